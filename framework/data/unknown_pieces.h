// How much of a text a vocabulary lacks: where much is missing, what a model says of the text means little.
#pragma once

#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace attnlab {

class UnknownPieces {
 public:
  explicit UnknownPieces(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  void count(std::string_view line);
  // "3 of 41 pieces of the text (in 2 of 4 lines, line 2 first) are unknown to the model: it reads <unk> in
  // their place"; empty where none is.
  std::string text() const;

 private:
  const Tokenizer& tokenizer_;
  Index pieces_ = 0, unknown_ = 0, lines_ = 0, lines_with_unknown_ = 0, first_ = 0;
};

}  // namespace attnlab
