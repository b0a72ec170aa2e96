// Byte-level byte-pair encoding (Radford et al. 2019, section 2.2), as GPT-2 has it: text is cut into words,
// spaces in front of them included, and the bytes of each are merged by rank. Every text has ids, and
// decoding gives it back.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

struct BytePairModel {
  // By id, in the printable form of the published files; specials included; empty where no entry has the id.
  std::vector<std::string> pieces;
  std::vector<std::pair<std::string, std::string>> merges;  // by rank
  bool single_digits = false;                               // digits are cut apart before anything else
  std::string begin, end, unknown;                          // entries that frame text; must be in `pieces`
};

class BytePairs final : public Tokenizer {
 public:
  // Throws DataError where an entry is given twice, or a merge or the end of a text speaks of none.
  explicit BytePairs(BytePairModel model);
  // Reads what serialized() wrote. Throws DataError.
  static BytePairModel parse(const std::string& bytes);

  // No text is a special entry, whatever it says. Bytes without an entry are left out, as in the package
  // tokenizers. Throws DataError for invalid UTF-8.
  std::vector<Token> encode(std::string_view line) const override;
  // Bytes that are no UTF-8 become U+FFFD.
  std::string decode(std::span<const Token> ids) const override;
  std::string piece(Token id) const override;
  Index size() const override { return static_cast<Index>(model_.pieces.size()); }
  std::string name() const override { return "byte_pairs"; }
  std::string serialized() const override;
  // vocab.json and merges.txt, or tokenizer.json where digits are cut apart.
  std::vector<std::pair<std::string, std::string>> published_files() const override;

 private:
  struct Merge {
    Index rank;
    Token merged;
  };
  Token id_of(const std::string& piece, const char* what) const;
  void add_merge(std::size_t rank);
  const Merge* merge_of(Token left, Token right) const;
  void encode_word(std::string_view word, std::vector<Token>& ids) const;

  BytePairModel model_;
  std::unordered_map<std::string, Token> ids_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::array<Token, 256> bytes_{};
};

// The words of GPT-2's pattern: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+,
// as views; with `single_digits`, each \p{N} is first cut from what surrounds it. Throws DataError for
// invalid UTF-8.
std::vector<std::string_view> byte_pair_words(std::string_view text, bool single_digits);

}  // namespace attnlab
