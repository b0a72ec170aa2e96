// Blocks of queries that meet tiles of keys together: in long sentences the rows of a head lie far apart, and
// loading a tile for each block alone takes a fifth of the time (8,192 rows of 8 heads). Internal to attend.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "kernels/attend_block.h"

namespace attnlab::kernels::detail {

constexpr Index kMostBlocks = 4;  // what backward keeps of so many lies in the second cache

// Up to kMostBlocks blocks of queries of a sentence, one after the other.
class QueryGroup {
 public:
  // Those of rows [first, first + rows). Throws away what was there before.
  void look(const Mask& mask, Index sentence, Index first, Index rows, Index lanes) {
    count_ = 0;
    for (Index begin = 0; begin < rows; begin += kQueryBlock)
      detail::look(mask, sentence, first + begin, std::min(kQueryBlock, rows - begin), lanes,
                   blocks_[static_cast<std::size_t>(count_++)]);
  }

  Index sentence() const { return blocks_[0].sentence; }
  Index count() const { return count_; }
  QueryBlock& operator[](Index i) { return blocks_[static_cast<std::size_t>(i)]; }

 private:
  std::array<QueryBlock, kMostBlocks> blocks_;
  Index count_ = 0;
};

// How many blocks go together where that leaves enough work for all threads.
Index blocks_together(const AttendInputs& inputs);

// Rows of keys and values of a head, loaded.
template <class T>
struct KeyTile {
  HeadRows<T> keys, values;
  Index begin;  // the first, in its sentence

  HeadRows<T> keys_from(Index key) const { return {keys.data + (key - begin) * keys.stride, keys.stride}; }
  HeadRows<T> values_from(Index key) const {
    return {values.data + (key - begin) * values.stride, values.stride};
  }
};

// For the tiles of keys [low, high): visit(tile, block, begin, end) with the number of each block that sees
// some of it, and the part [begin, end) that it sees.
template <class E, class T, class Visit>
void visit_key_tiles(const HeadInputs<E>& in, QueryGroup& group, Index head, Index low, Index high,
                     T* key_room, T* value_room, const Visit& visit) {
  Index first = high, last = low;
  for (Index i = 0; i < group.count(); ++i) {
    first = std::min(first, std::max(group[i].low, low));
    last = std::max(last, std::min(group[i].high, high));
  }
  for_key_tiles(first, last, [&](Index begin, Index end) {
    const Index row = in.in.mask->keys.offset(group.sentence()) + begin;
    const KeyTile<T> tile{in.keys(row, end - begin, head, key_room),
                          in.values(row, end - begin, head, value_room), begin};
    for (Index i = 0; i < group.count(); ++i) {
      const Index from = std::max(group[i].low, begin), to = std::min(group[i].high, end);
      if (from < to) visit(tile, i, from, to);
    }
  });
}

}  // namespace attnlab::kernels::detail
