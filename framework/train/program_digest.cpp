#include "train/program_digest.h"

#include <code_digest.h>  // made by the build

#include <algorithm>
#include <set>

#include "core/error.h"
#include "data/sha256.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

std::vector<LoadedModule>& table() {
  static std::vector<LoadedModule> all;
  return all;
}

}  // namespace

std::string code_digest() { return kCodeDigest; }

void note_loaded_module(const std::filesystem::path& file) {
  const FileDigest digest = digest_of(file);
  const LoadedModule module{file.string(), join_text(digest.bytes, " bytes, crc ", digest.crc32)};
  if (std::find(table().begin(), table().end(), module) == table().end()) table().push_back(module);
}

const std::vector<LoadedModule>& noted_modules() { return table(); }

std::string with_modules(const std::string& digest, const std::vector<LoadedModule>& modules) {
  std::set<std::string> contents;
  for (const LoadedModule& module : modules) contents.insert(module.content);
  std::string text = digest;
  for (const std::string& content : contents) text += ", module of " + content;
  return modules.empty() ? digest : sha256_hex(text);
}

std::string program_digest() { return with_modules(code_digest()); }

}  // namespace attnlab
