// Modules from outside the program, as --load names them.
#pragma once

#include <string>
#include <vector>

namespace attnlab {

// Throws ConfigError if it cannot be loaded, IoError if it cannot be read.
void load_module(const std::string& file);
// A program, by its name or path, with the options that load the modules loaded so far: the words before a
// command.
std::vector<std::string> with_loaded_modules(const std::string& program);
// What is to be typed for a command of this program with the same modules: "attnlab --load ./window.so eval
// RUN".
std::string command_to_type(const std::vector<std::string>& words);

}  // namespace attnlab
