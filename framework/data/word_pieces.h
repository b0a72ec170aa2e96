// WordPiece (Devlin et al. 2019, section 3): words cut at spaces and punctuation, then into the longest
// pieces that the vocabulary has, from the left; pieces within a word are written ##piece.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

struct WordPieceModel {
  std::vector<std::string> pieces;  // by id; [UNK], [CLS] and [SEP] among them
  bool lowercase = true;
  bool strip_accents = lowercase;  // as BERT has it: both or neither
  bool ideographs_apart = true;    // each a word of its own
};

class WordPieces final : public Tokenizer {
 public:
  // Throws DataError where a piece is given twice, or one of the three special ones is missing.
  explicit WordPieces(WordPieceModel model);
  // Reads what serialized() wrote. Throws DataError.
  static WordPieceModel parse(std::string_view bytes);

  // A word that the pieces cannot make, or with more than 100 characters, is [UNK]. No text is a special
  // entry. Throws DataError for invalid UTF-8.
  std::vector<Token> encode(std::string_view line) const override;
  // Words with a space between them; pieces joined.
  std::string decode(std::span<const Token> ids) const override;
  std::string piece(Token id) const override;
  Index size() const override { return static_cast<Index>(model_.pieces.size()); }
  std::string name() const override { return "word_pieces"; }
  std::string serialized() const override;
  std::vector<std::pair<std::string, std::string>> published_files()
      const override;  // vocab.txt, its settings

 private:
  void encode_word(const std::vector<char32_t>& word, std::vector<Token>& ids) const;
  WordPieceModel model_;
  std::unordered_map<std::string, Token> ids_;
};

}  // namespace attnlab
