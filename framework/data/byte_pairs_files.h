// Published files of byte-level vocabularies: tokenizer.json, or vocab.json with merges.txt.
#pragma once

#include <filesystem>

#include "data/byte_pairs.h"

namespace attnlab {

// From a folder, or from a tokenizer.json. `end` is the entry that ends a text, `begin` may be empty. Throws
// DataError for files that are missing, damaged, or of another sort: other models, normalisers, or cuts into
// words.
BytePairModel read_byte_pairs(const std::filesystem::path& path, const std::string& begin,
                              const std::string& end);

}  // namespace attnlab
