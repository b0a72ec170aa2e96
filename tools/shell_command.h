// Commands that the program tells the user to type.
#pragma once

#include <string>
#include <vector>

namespace attnlab {

// The words in one line as a POSIX shell reads them back, quoted where they need it.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace attnlab
