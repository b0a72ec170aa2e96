// What forward and backward of attention share: which work there is, what a block of queries sees, and how
// rows of one head get into scratch memory and back. Internal to attend.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
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

  bool empty() const { return low >= high; }
  bool in_one_tile() const { return low / kKeyBlock == (high - 1) / kKeyBlock; }
  bool sees_nothing(Index t) const {
    return begin[static_cast<std::size_t>(t)] >= end[static_cast<std::size_t>(t)];
  }
  bool masks(Index key_begin, Index key_end) const;  // some query does not see all of these keys
};

void look(const Mask& mask, Index sentence, Index first, Index count, Index lanes, QueryBlock& block);
// Adds the rows of a sentence, in blocks; heads go together where a head alone is too little.
void add_items(const AttendInputs& inputs, Index sentence, Index rows, Index block,
               std::vector<AttendItem>& items);
bool worth_threads(const AttendInputs& inputs);  // or is there so little to do that starting them costs more?

// Rows that are reserved but belong to no sentence get no gradient.
void clear_reserved(const Sequences& sequences, const Target& target);

// Runs body(item) for all items.
template <class Body>
void run_items(const AttendInputs& inputs, const std::vector<AttendItem>& items, const Body& body) {
  if (worth_threads(inputs))
    parallel_items(static_cast<Index>(items.size()),
                   [&items, &body](Index i) { body(items[static_cast<std::size_t>(i)]); });
  else
    for (const AttendItem& item : items) body(item);
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

// Where the rows lie if they can be used in place, else a copy in `room`. Many rows far apart would evict
// each other from the cache, so that they are copied too.
template <class E, class T>
HeadRows<T> head_rows(const AttendLoops<T>& loops, const Tensor& tensor, Index first, Index count,
                      Index column, Index width, Index padded, T* room) {
  const E* in = static_cast<const E*>(tensor.raw()) + first * tensor.row_stride() + column;
  if constexpr (std::is_same_v<E, T>)
    if (width == padded && (count <= 32 || tensor.row_stride() == padded)) return {in, tensor.row_stride()};
  loops.load(in, dtype_of<E>, tensor.row_stride(), count, width, padded, room);
  return {room, padded};
}

// Writes (or adds) rows times `factor` and a factor each to the columns of a head.
template <class T>
void store_rows(const AttendLoops<T>& loops, const T* rows, Index padded, Index count, Index width, T factor,
                std::type_identity_t<const T*> factors, const Target& to, Index first, Index column) {
  const Index place = first * to.buffer.row_stride() + column;
  auto* out = static_cast<std::byte*>(to.buffer.raw()) + place * size_of(to.buffer.type());
  loops.store(rows, padded, count, width, factor, factors, out, to.buffer.type(), to.buffer.row_stride(),
              to.add);
}

// The inputs of attention as the loops see them: sizes, rows of a head, dropout.
template <class E>
struct HeadInputs {
  using T = Accumulator<E>;

  explicit HeadInputs(const AttendInputs& inputs)
      : in(inputs),
        loops(attend_loops<T>()),
        width(inputs.query.columns() / inputs.heads),
        value_width(inputs.value.columns() / inputs.heads),
        padded(rounded_up(width, loops.lanes)),
        value_padded(rounded_up(value_width, loops.lanes)) {}

  Index first_row(const QueryBlock& block) const {
    return in.mask->queries.offset(block.sentence) + block.first;
  }
  HeadRows<T> queries(Index row, Index count, Index head, T* room) const {
    return head_rows<E>(loops, in.query, row, count, head * width, width, padded, room);
  }
  HeadRows<T> keys(Index row, Index count, Index head, T* room) const {
    return head_rows<E>(loops, in.key, row, count, head * width, width, padded, room);
  }
  HeadRows<T> values(Index row, Index count, Index head, T* room) const {
    return value_rows(in.value, row, count, head, room);
  }
  HeadRows<T> value_rows(const Tensor& tensor, Index row, Index count, Index head, T* room) const {
    return head_rows<E>(loops, tensor, row, count, head * value_width, value_width, value_padded, room);
  }

  // Weights between the queries of a block and keys [begin, end), to be filled.
  WeightBlock<T> weights(const QueryBlock& block, Index begin, Index end, T* scores, T* d_weights) const {
    return {scores, d_weights,          end - begin,      block.padded,
            begin,  block.begin.data(), block.end.data(), block.masks(begin, end),
            {}};
  }
  // Draws what decides on dropout of these weights.
  void drop(WeightBlock<T>& weights, const QueryBlock& block, std::uint32_t* words) const {
    if (in.drop_threshold == 0) return;
    const Index first = weights.first_key / 8, groups = (weights.first_key + weights.keys + 7) / 8 - first;
    loops.draw(in.random.key(), in.random.step(), block.draws.data(), block.padded, first, groups, words);
    weights.dropout = {words, first, in.drop_threshold, keep_scale()};
  }
  double keep_scale() const { return 1 / (1 - in.drop_threshold / 65536.0); }

  // scores [keys, queries] = keys times columns of queries.
  void score(HeadRows<T> rows, Index depth, const T* columns, const WeightBlock<T>& weights,
             T* scores) const {
    const Index lanes = weights.queries;
    loops.product(
        {rows.data, rows.stride, 1, columns, lanes, scores, lanes, weights.keys, lanes, depth, false});
  }

  const AttendInputs& in;
  const AttendLoops<T>& loops;
  Index width, value_width, padded, value_padded;
};

// Calls visit(begin, end) for the tiles of keys [low, high). Tiles start at multiples of their size in the
// sentence, so that the order of sums does not depend on which queries are asked together.
template <class Visit>
void for_key_tiles(Index low, Index high, Visit&& visit) {
  for (Index begin = low; begin < high;) {
    const Index end = std::min((begin / kKeyBlock + 1) * kKeyBlock, high);
    visit(begin, end);
    begin = end;
  }
}

constexpr Index kMostWords = (kKeyBlock / 8 + 1) * 4 * kQueryBlock;

}  // namespace attnlab::kernels::detail
