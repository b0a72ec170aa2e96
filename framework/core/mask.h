// What each query row of a ragged batch may see: an interval of its sentence's keys. Lengths, causality (by
// absolute position, so that incremental use is the same code), a band, or explicit intervals. Never added
// magic numbers.
#pragma once

#include <optional>

#include "core/sequences.h"

namespace attnlab {

struct Interval {
  Index begin = 0, end = 0;  // empty where begin >= end: such a query gives a zero row and no gradient
  bool empty() const { return begin >= end; }
  Index count() const { return empty() ? 0 : end - begin; }
};

struct Mask {
  Sequences queries, keys;          // sentence b's queries see sentence b's keys only
  bool causal = false;              // key position s <= query position past + t
  Index band = -1;                  // |position difference| <= band; negative: no band
  std::vector<Index> past;          // per sentence, the position of its first query; empty: all 0
  std::vector<Interval> intervals;  // per query row, a further restriction; empty: none

  Index position(Index b, Index t) const {
    return (past.empty() ? 0 : past[static_cast<std::size_t>(b)]) + t;
  }

  // Keys, counted within sentence b, that its query t may see.
  Interval visible(Index b, Index t) const {
    Interval range{0, keys.length(b)};
    const Index here = position(b, t);
    if (causal) range.end = std::min(range.end, here + 1);
    if (band >= 0) {
      range.begin = std::max<Index>(range.begin, here - band);
      range.end = std::min(range.end, here + band + 1);
    }
    if (!intervals.empty()) {
      const Interval& own = intervals[static_cast<std::size_t>(queries.offset(b) + t)];
      range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
    }
    if (range.empty()) return {0, 0};
    return range;
  }
};

}  // namespace attnlab
