// Modules from outside the program, as --load names them.
#pragma once

#include <string>
#include <vector>

namespace attnlab {

// Throws ConfigError if it cannot be loaded, IoError if it cannot be read.
void load_module(const std::string& file);
// Those loaded so far, for programs that we start.
const std::vector<std::string>& loaded_modules();

}  // namespace attnlab
