#include "stray_assignments.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "config/error.h"
#include "shell_command.h"

namespace attnlab {
namespace {

// A dotted key before the first "=".
bool looks_like_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

bool is_there(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

}  // namespace

void refuse_stray_assignments(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], before = argv[i - 1];
    const bool value_of_option = before.starts_with("-") && before.find('=') == std::string::npos;
    if (value_of_option || !looks_like_assignment(word) || is_there(word)) continue;
    throw ConfigError("error: " + word + ": no such file or folder; every key needs its own --set: " +
                      shell_command({"--set", word}));
  }
}

}  // namespace attnlab
