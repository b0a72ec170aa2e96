// Subword vocabularies (SentencePiece BPE or unigram), trained inside. The same lines and settings give the
// same model: one thread, a fixed seed, no sampling of lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

enum class SubwordModel { bpe, unigram };

struct SubwordSettings {
  SubwordModel model = SubwordModel::bpe;
  Index size = 8000;           // entries, specials included
  double coverage = 1.0;       // share of the characters that get entries of their own
  bool byte_fallback = false;  // unknown characters as bytes instead of <unk>
  bool lowercase = false;
  std::uint32_t seed = 1;
};

// Learns from the lines (empty ones are skipped). Throws DataError when there is no text, or when `size` does
// not fit the text; the message then says what would.
std::string train_subwords(const std::vector<std::string>& lines, const SubwordSettings& settings);

// A tokenizer from the bytes of a SentencePiece model. Throws DataError if they are not one.
std::shared_ptr<const Tokenizer> parse_subwords(std::string bytes);

}  // namespace attnlab
