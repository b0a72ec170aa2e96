// A text as a task that labels whole texts shows it to a model: begin and end symbols, and no more than it
// reads.
#pragma once

#include <optional>
#include <vector>

#include "data/tokenizer.h"

namespace attnlab {

struct FramedText {
  std::vector<Token> ids;  // what the model reads
  bool cut = false;        // whether the text goes on beyond that
};

// <s> ids </s>, of which the last ids are left out where it would have more than `max_tokens` (at least 2).
FramedText between_symbols(const Tokenizer& words, std::vector<Token> ids,
                           std::optional<Index> max_tokens = {});

// Leaves out what a model with so much room does not read, but for an end that was there; whether that was
// anything.
bool cut_to_room(std::vector<Token>& ids, std::optional<Index> room, Token eos);

// Of a task whose texts have symbols of the vocabulary alone: throws DataError where one is unknown.
void require_known(const Tokenizer& symbols, const std::vector<Token>& ids);

}  // namespace attnlab
