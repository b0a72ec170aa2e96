// attnlab help [COMMAND]: what --help says, of the program or of one command.
#include <fmt/core.h>

#include "command.h"
#include "config/error.h"

namespace attnlab {
namespace {

const CLI::App& subcommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands({})) {
    if (one->get_name() == word) return *one;
    names.push_back(one->get_name());
  }
  if (names.empty()) throw ConfigError("error: '" + app.get_name() + "' has no commands of its own");
  throw ConfigError("error: " + no_such_command(word, names));
}

int help(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::string name = program.get_name();
  for (const std::string& word : words) {
    app = &subcommand(*app, word);
    name += " " + word;
  }
  fmt::print("{}", app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal));
  return 0;
}

const Command command{"help", "what there is, or the options of a command", [](CLI::App& app) {
                        auto words = std::make_shared<std::vector<std::string>>();
                        app.add_option("command", *words, "such as run, or model get");
                        return [words, program = app.get_parent()] { return help(*program, *words); };
                      }};

}  // namespace
}  // namespace attnlab
