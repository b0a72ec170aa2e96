// The program `attnlab`. Results go to stdout, the log to stderr. Exit codes: 0 done, 1 runtime failure, 2
// usage or configuration, 3 data, 4 diverged, 128 + n after signal n.
#include <fmt/core.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "config/error.h"
#include "config/registry.h"
#include "core/affinity.h"
#include "core/denormals.h"
#include "core/error.h"
#include "help_text.h"
#include "modules.h"
#include "stray_assignments.h"
#include "version.h"

using namespace attnlab;

namespace {

// GNU OpenMP's threads spin for milliseconds when they wait, which costs a busy machine a hundredfold. It
// reads its settings before main() runs, so the program starts itself again with short spins, unless the user
// has chosen.
void restart_with_short_spins(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "5000", 0);
  use_all_processors();
  char path[PATH_MAX + 1] = {};  // by its own path, so that the process keeps its name
  if (readlink("/proc/self/exe", path, PATH_MAX) > 0) execv(path, argv);  // on failure go on as we are
}

// What is left over where no command was found may be meant as one: `attnlab trian` or `attnlab config
// shema`, also with --help.
void require_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::App* command : last->get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) return;  // it has no commands of its own
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with("-")) continue;
    throw ConfigError("error: " + no_such_command(word, names));
  }
}

int run(int argc, char** argv) {
  CLI::App app("attnlab: Transformer training for experiments on CPUs. One YAML file is one experiment.",
               "attnlab");
  app.formatter(std::make_shared<HelpText>());  // first: commands take it over
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.fallthrough();  // --load is understood after the command, too
  set_source_of_further_kinds("kinds of one's own come with their module: --load FILE.so");
  app.add_option_function<std::vector<std::string>>(
         "--load",
         [](const std::vector<std::string>& files) {
           for (const auto& file : files) load_module(file);
         },
         "a shared library with further attentions, tasks, …; before or after the command")
      ->allow_extra_args(false)
      ->take_all()
      ->trigger_on_parse();
  std::function<int()> chosen;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->doc);
    const auto action = command->set_up(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  refuse_stray_assignments(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    require_command(app);
    return app.exit(error) == 0 ? 0 : 2;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_short_spins(argv);
  flush_denormals_to_zero();
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a failed write, as a full disk is
  try {
    return run(argc, argv);
  } catch (const ConfigError& error) {
    // Many name file, line and column before the word.
    const std::string text = error.what();
    fmt::print(stderr, "{}{}\n", text.find("error: ") == std::string::npos ? "error: " : "", text);
    return 2;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
