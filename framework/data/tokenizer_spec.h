// Kinds of tokenizers, learned from text and cached: `kind: subword | word | character | …`. A kind registers
// itself.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "data/tokenizer.h"

namespace attnlab {

struct TokenizerSpec {
  static constexpr const char* kRegistry = "tokenizer";
  virtual ~TokenizerSpec() = default;
  virtual void fields(Fields& f) = 0;
  // Read from files as it is: nothing is learned, and so nothing cached.
  virtual bool fixed() const { return false; }
  // The bytes of the vocabulary file, a pure function of the lines and this spec. Throws DataError.
  virtual std::string learn(const std::vector<std::string>& lines) const = 0;
  // From such bytes. Throws DataError where they are not of this kind.
  virtual std::shared_ptr<const Tokenizer> parse(std::string bytes) const = 0;
};

// Learns, or takes from `cache` what was learned before from the same lines with the same spec. An empty path
// means no cache. A damaged cache file is made anew.
std::shared_ptr<const Tokenizer> learned_tokenizer(const TokenizerSpec& spec,
                                                   const std::vector<std::string>& lines,
                                                   const std::filesystem::path& cache);

// Writes folder/stem.KIND and reads it back: what a run folder keeps so that it needs no corpus later.
void save_tokenizer(const std::filesystem::path& folder, const std::string& stem, const Tokenizer& tokenizer);
// Throws DataError if the folder has no such file of a known kind.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder, const std::string& stem);

}  // namespace attnlab
