#include "modules.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "config/error.h"
#include "train/program_digest.h"

namespace attnlab {
namespace {

std::vector<std::string>& table() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

void load_module(const std::string& file) {
  // A path without a slash would be looked up in the system's library folders.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw ConfigError(fmt::format("--load {}: {}", file, dlerror()));
  note_loaded_module(path);
  table().push_back(path);
}

const std::vector<std::string>& loaded_modules() { return table(); }

}  // namespace attnlab
