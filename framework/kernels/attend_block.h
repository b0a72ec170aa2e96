// What forward and backward of attention share: which work there is, what a block of queries sees, and how
// rows of one head get into scratch memory and back. Internal to attend.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "kernels/attend.h"
#include "kernels/attend_loops.h"
#include "kernels/matmul_scratch.h"

namespace attnlab::kernels::detail {

constexpr Index kQueryBlock = 64, kKeyBlock = 64;

inline Index rounded_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

// A piece of work: some heads and rows of one sentence.
struct AttendItem {
  Index sentence, first_head, heads, first_row, rows;
};

// The queries [first, first + count) of a sentence and the keys that they see.
struct QueryBlock {
  Index sentence = 0, first = 0, count = 0, padded = 0;
  Index low = 0, high = 0;  // all keys that some query of the block sees lie in [low, high)
  alignas(64) std::array<std::int32_t, kQueryBlock> begin, end;
  alignas(64) std::array<std::uint64_t, kQueryBlock> draws;  // dropout: number of the first random block

  bool sees_nothing(Index t) const {
    return begin[static_cast<std::size_t>(t)] >= end[static_cast<std::size_t>(t)];
  }
  bool masks(Index key_begin, Index key_end) const;  // some query does not see all of these keys
};

void look(const Mask& mask, Index sentence, Index first, Index count, Index lanes, QueryBlock& block);
// Every row of every sentence once, in blocks of queries; short sentences in groups of heads.
std::vector<AttendItem> query_items(const AttendInputs& inputs);
void add_items(const AttendInputs& inputs, Index sentence, Index rows, Index block,
               std::vector<AttendItem>& items);

// Rows that are reserved but belong to no sentence get no gradient.
void clear_reserved(const Sequences& sequences, const Target& target);

// Runs body(item) for all items.
template <class Body>
void run_items(const std::vector<AttendItem>& items, Body&& body) {
  parallel_items(static_cast<Index>(items.size()),
                 [&](Index i) { body(items[static_cast<std::size_t>(i)]); });
}

void number_draws(const AttendInputs& inputs, Index head, QueryBlock& block);

// Memory of the calling thread, cut into arrays.
class Workspace {
 public:
  explicit Workspace(void* memory) : next_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* take(Index count) {
    auto* result = reinterpret_cast<T*>(next_);
    next_ += rounded_up(count * static_cast<Index>(sizeof(T)), 64);
    return result;
  }

 private:
  std::byte* next_;
};

// Rows of one head, ready for vectors: columns padded with zeros to a multiple of the lanes.
template <class T>
struct HeadRows {
  const T* data;
  Index stride;
};

// Where the rows lie if they can be used in place, else a copy in `room`.
template <class E, class T>
HeadRows<T> head_rows(const Tensor& tensor, Index first, Index count, Index column, Index width, Index padded,
                      T* room) {
  const E* in = tensor.data<E>() + first * tensor.row_stride() + column;
  if constexpr (std::is_same_v<E, T>)
    if (width == padded) return {in, tensor.row_stride()};
  for (Index i = 0; i < count; ++i, in += tensor.row_stride()) {
    T* line = room + i * padded;
    for (Index j = 0; j < width; ++j) line[j] = static_cast<T>(in[j]);
    for (Index j = width; j < padded; ++j) line[j] = 0;
  }
  return {room, padded};
}

// Writes (or adds) a row times `factor`.
template <class T>
void store_row(const T* row, Index width, T factor, const Tensor& to, Index to_row, Index column, bool add) {
  dispatch(to.type(), [&](auto zero) {
    using E = decltype(zero);
    E* out = to.data<E>() + to_row * to.row_stride() + column;
    if (add)
      for (Index j = 0; j < width; ++j) out[j] = static_cast<E>(static_cast<T>(out[j]) + row[j] * factor);
    else
      for (Index j = 0; j < width; ++j) out[j] = static_cast<E>(row[j] * factor);
  });
}

// The part of `inputs` that loops over: sizes, loops, dropout.
template <class T>
struct AttendSizes {
  explicit AttendSizes(const AttendInputs& inputs)
      : loops(attend_loops<T>()),
        width(inputs.query.columns() / inputs.heads),
        value_width(inputs.value.columns() / inputs.heads),
        padded(rounded_up(width, loops.lanes)),
        value_padded(rounded_up(value_width, loops.lanes)),
        keep_scale(1 / (1 - inputs.drop_threshold / 65536.0)) {}
  const AttendLoops<T>& loops;
  Index width, value_width, padded, value_padded;
  double keep_scale;
};

// Fills the words that decide on dropout between a block of queries and keys [begin, end).
template <class T>
BlockDropout draw_dropout(const AttendInputs& inputs, const AttendSizes<T>& sizes, const QueryBlock& block,
                          Index begin, Index end, std::uint32_t* words) {
  if (inputs.drop_threshold == 0) return {};
  const Index first = begin / 8, groups = (end + 7) / 8 - first;
  sizes.loops.draw(inputs.random.key(), inputs.random.step(), block.draws.data(), block.padded, first, groups,
                   words);
  return {words, first, inputs.drop_threshold, sizes.keep_scale};
}
constexpr Index kMostWords = (kKeyBlock / 8 + 1) * 4 * kQueryBlock;

}  // namespace attnlab::kernels::detail
