#include "data/unknown_pieces.h"

#include <algorithm>

#include "core/error.h"

namespace attnlab {

void UnknownPieces::count(std::string_view line) {
  const std::vector<Token> ids = tokenizer_.encode(line);
  const auto unknown = static_cast<Index>(std::count(ids.begin(), ids.end(), tokenizer_.unk()));
  ++lines_;
  pieces_ += std::ssize(ids);
  unknown_ += unknown;
  if (unknown == 0) return;
  if (lines_with_unknown_++ == 0) first_ = lines_;
}

std::string UnknownPieces::text() const {
  if (unknown_ == 0) return {};
  return join_text(unknown_, " of ", pieces_, " pieces of the text (in ", lines_with_unknown_, " of ", lines_,
                   " lines, line ", first_, " first) are unknown to the model: it reads ",
                   tokenizer_.piece(tokenizer_.unk()), " in their place");
}

}  // namespace attnlab
