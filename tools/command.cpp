#include "command.h"

#include <algorithm>

#include "config/closest.h"

namespace attnlab {
namespace {

std::vector<const Command*>& table() {
  static std::vector<const Command*> all;
  return all;
}

}  // namespace

Command::Command(const char* command_name, const char* command_doc, SetUp command_set_up)
    : name(command_name), doc(command_doc), set_up(std::move(command_set_up)) {
  table().push_back(this);
}

const std::vector<const Command*>& commands() {
  std::sort(table().begin(), table().end(),
            [](const Command* a, const Command* b) { return a->name < b->name; });
  return table();
}

std::string no_such_command(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = closest_match(word, names);
  return "no command '" + word + "'" +
         (near.empty() ? "; there are: " + join_names(names) : ", did you mean '" + near + "'?");
}

void ConfigOptions::declare(CLI::App& app, bool required) {
  auto* option = app.add_option("config", files, "YAML files; later ones win");
  if (required) option->required();
  app.add_option("--set", assignments, "a.b=value on top of the files")->allow_extra_args(false)->take_all();
}

}  // namespace attnlab
