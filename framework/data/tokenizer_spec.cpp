#include "data/tokenizer_spec.h"

#include "config/registry.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// Changes when the same settings begin to mean something else.
constexpr std::string_view kCacheVersion = "1";

std::string cache_key(const TokenizerSpec& spec, const std::vector<std::string>& lines) {
  Sha256 hash;
  hash.add_field(kCacheVersion);
  hash.add_field(Registry<TokenizerSpec>::name_of(spec));
  hash.add_field(write_spec(spec));
  for (const std::string& line : lines) hash.add_field(line);
  return hash.hex();
}

}  // namespace

std::shared_ptr<const Tokenizer> learned_tokenizer(const TokenizerSpec& spec,
                                                   const std::vector<std::string>& lines,
                                                   const fs::path& cache) {
  if (cache.empty() || spec.fixed()) return spec.parse(spec.learn(lines));
  const std::string kind = Registry<TokenizerSpec>::name_of(spec);
  const fs::path file = cache / join_text(cache_key(spec, lines).substr(0, 32), ".", kind);
  std::error_code error;
  if (fs::exists(file, error)) {
    try {
      return spec.parse(read_bytes(file));
    } catch (const DataError&) {
      // Damaged; learned again below.
    }
  }
  const std::string bytes = spec.learn(lines);
  write_file(file, bytes);
  return spec.parse(bytes);
}

void save_tokenizer(const fs::path& folder, const std::string& stem, const Tokenizer& tokenizer) {
  write_file(folder / (stem + "." + tokenizer.name()), tokenizer.serialized());
}

std::shared_ptr<const Tokenizer> load_tokenizer(const fs::path& folder, const std::string& stem) {
  std::string tried;
  for (const auto& kind : Registry<TokenizerSpec>::list()) {
    const fs::path file = folder / (stem + "." + kind.name);
    std::error_code error;
    if (fs::exists(file, error)) return Registry<TokenizerSpec>::make(kind.name)->parse(read_bytes(file));
    tried += join_text(" ", file.filename().string());
  }
  throw DataError(folder.string() + ": no vocabulary; looked for" + tried);
}

}  // namespace attnlab
