#include "modules.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "config/error.h"
#include "shell_command.h"
#include "train/program_digest.h"

namespace attnlab {
void load_module(const std::string& file) {
  // A path without a slash would be looked up in the system's library folders.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw ConfigError(fmt::format("--load {}: {}", file, dlerror()));
  note_loaded_module(path);
}

std::vector<std::string> with_loaded_modules(const std::string& program) {
  std::vector<std::string> words{program};
  for (const LoadedModule& module : noted_modules()) words.insert(words.end(), {"--load", module.path});
  return words;
}

std::string command_to_type(const std::vector<std::string>& words) {
  std::vector<std::string> all = with_loaded_modules("attnlab");
  all.insert(all.end(), words.begin(), words.end());
  return shell_command(all);
}

}  // namespace attnlab
