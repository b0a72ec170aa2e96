// Sentences of tokens as the rows that a model reads.
#pragma once

#include <vector>

#include "models/stack_input.h"

namespace attnlab {

inline TokenRows rows_of(const std::vector<std::vector<std::int32_t>>& sentences) {
  TokenRows result;
  std::vector<Index> lengths;
  for (const auto& sentence : sentences) {
    result.ids.insert(result.ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(static_cast<Index>(sentence.size()));
  }
  result.rows = Sequences::of_lengths(lengths);
  return result;
}

}  // namespace attnlab
