#include "data/framed_text.h"

#include <algorithm>

#include "core/error.h"

namespace attnlab {

FramedText between_symbols(const Tokenizer& words, std::vector<Token> ids, std::optional<Index> max_tokens) {
  FramedText text;
  if (max_tokens && static_cast<Index>(ids.size()) > *max_tokens - 2) {
    ids.resize(static_cast<std::size_t>(*max_tokens - 2));
    text.cut = true;
  }
  text.ids = std::move(ids);
  text.ids.insert(text.ids.begin(), words.bos());
  text.ids.push_back(words.eos());
  return text;
}

bool cut_to_room(std::vector<Token>& ids, std::optional<Index> room, Token eos) {
  if (!room || static_cast<Index>(ids.size()) <= *room) return false;
  const bool ended = ids.back() == eos;
  ids.resize(static_cast<std::size_t>(*room));
  if (ended) ids.back() = eos;
  return true;
}

void require_known(const Tokenizer& symbols, const std::vector<Token>& ids) {
  const auto unknown = std::find(ids.begin(), ids.end(), symbols.unk());
  if (unknown == ids.end()) return;
  std::string known;
  for (Token id = 0; id < symbols.size(); ++id)
    if (id != symbols.unk() && id != symbols.bos() && id != symbols.eos()) known += " " + symbols.piece(id);
  throw DataError(
      join_text("symbol ", unknown - ids.begin() + 1, " is none of this task's; there are:", known));
}

}  // namespace attnlab
