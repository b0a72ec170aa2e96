// One subcommand of the program. Each lives in a file of its own under tools/commands/ and registers itself.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace attnlab {

// Declares options on `app` and returns what to run when it was chosen; the result is the exit code.
using SetUp = std::function<std::function<int()>(CLI::App& app)>;

struct Command {
  Command(const char* command_name, const char* command_doc, SetUp command_set_up);
  std::string name, doc;
  SetUp set_up;
};

const std::vector<const Command*>& commands();  // in name order

// What to say of a word that is none of the commands: those that there are, or the one that was meant.
std::string no_such_command(const std::string& word, const std::vector<std::string>& names);

// Options that several commands share: configuration files and --set.
struct ConfigOptions {
  std::vector<std::string> files, assignments;
  void declare(CLI::App& app, bool required);
};

}  // namespace attnlab
