#include "train/program_digest.h"

#include <code_digest.h>  // made by the build

#include <set>

#include "core/error.h"
#include "data/sha256.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

std::set<std::string>& modules() {
  static std::set<std::string> all;
  return all;
}

}  // namespace

std::string code_digest() { return kCodeDigest; }

void note_loaded_module(const std::filesystem::path& file) {
  const FileDigest digest = digest_of(file);
  modules().insert(join_text("module of ", digest.bytes, " bytes, crc ", digest.crc32));
}

std::string with_modules(const std::string& digest) {
  std::string text = digest;
  for (const auto& module : modules()) text += ", " + module;
  return modules().empty() ? digest : sha256_hex(text);
}

std::string program_digest() { return with_modules(code_digest()); }

}  // namespace attnlab
