// Vocabularies of words and of characters: one entry a line in their file, the first three being <unk>, <s>
// and </s>. Entries are ordered by falling count, equal counts by bytes, so that the order is reproducible.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

enum class TokenUnit { word, character };

class Vocabulary final : public Tokenizer {
 public:
  // Entries after the three special ones; they must differ, be non-empty, and be no special one. Throws
  // DataError.
  Vocabulary(TokenUnit unit, const std::vector<std::string>& entries);

  // Counts the units of all lines and keeps those seen at least `min_count` times, the most frequent
  // `max_size` of them (0: all), specials not counted.
  static Vocabulary learn(TokenUnit unit, const std::vector<std::string>& lines, Index min_count,
                          Index max_size);
  // Reads what `serialized` wrote. Throws DataError.
  static Vocabulary parse(std::string_view bytes);

  // Words are separated by ASCII white space; the decoded line has single spaces.
  std::vector<Token> encode(std::string_view line) const override;
  std::string decode(std::span<const Token> ids) const override;
  std::string piece(Token id) const override;
  Index size() const override { return static_cast<Index>(entries_.size()); }
  std::string name() const override { return unit_ == TokenUnit::word ? "word" : "character"; }
  std::string serialized() const override;
  TokenUnit unit() const { return unit_; }

 private:
  TokenUnit unit_;
  std::vector<std::string> entries_;
  std::unordered_map<std::string, Token> ids_;
};

}  // namespace attnlab
