// Where the sentences of a ragged batch lie in a matrix of token rows [N, D]: sentence b has the rows
// offset(b) … offset(b) + length(b). There is no padding, so nothing can depend on it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct Sequences {
  std::vector<Index> offsets{0};  // count + 1 entries, the last is the number of rows
  std::vector<Index>
      lengths;  // usually empty (sentences fill the rows); set where rows are reserved ahead (caches)
  Index first_row =
      0;  // rows of earlier micro-batches of the same accumulation window: dropout counts from here

  static Sequences of_lengths(const std::vector<Index>& lengths, Index first_row = 0) {
    Sequences result;
    result.first_row = first_row;
    for (const Index length : lengths) result.offsets.push_back(result.offsets.back() + length);
    return result;
  }
  static Sequences equal(Index count, Index length) {
    return of_lengths(std::vector<Index>(static_cast<std::size_t>(count), length));
  }

  Index count() const { return static_cast<Index>(offsets.size()) - 1; }
  Index rows() const { return offsets.back(); }
  Index offset(Index b) const { return offsets[static_cast<std::size_t>(b)]; }
  Index length(Index b) const {
    const auto i = static_cast<std::size_t>(b);
    return lengths.empty() ? offsets[i + 1] - offsets[i] : lengths[i];
  }
  Index longest() const {
    Index most = 0;
    for (Index b = 0; b < count(); ++b) most = std::max(most, length(b));
    return most;
  }
};

}  // namespace attnlab
