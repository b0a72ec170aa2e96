#include "kernels/attend_linear.h"

#include "kernels/attend_linear_block.h"

namespace attnlab::kernels {
namespace detail {

void plan_prefixes(const Mask& mask, Index sentence, std::vector<Index>& prefixes) {
  prefixes.clear();
  const Index queries = mask.queries.length(sentence);
  bool possible = true;
  for (Index first = 0; first < queries; first += kQueryBlock) {
    const Index before = prefixes.empty() ? 0 : prefixes.back();
    Index least = std::numeric_limits<Index>::max();
    for (Index t = first; t < std::min(first + kQueryBlock, queries); ++t) {
      const Interval seen = mask.visible(sentence, t);
      if (seen.empty()) continue;
      possible = possible && seen.begin == 0;
      least = std::min(least, seen.end);
    }
    const Index prefix = least == std::numeric_limits<Index>::max() ? before : least / kKeyBlock * kKeyBlock;
    possible = possible && prefix >= before;
    prefixes.push_back(prefix);
  }
  if (!possible) std::fill(prefixes.begin(), prefixes.end(), Index{0});
}

const std::vector<AttendItem>& sentence_items(const AttendInputs& inputs) {
  thread_local std::vector<AttendItem> items;
  items.clear();
  for (Index b = 0; b < inputs.mask->queries.count(); ++b) {
    const Index rows = std::max<Index>(inputs.mask->queries.length(b), 1);
    add_items(inputs, b, rows, rows, items);
  }
  return items;
}

}  // namespace detail

namespace {

using namespace detail;

template <class E>
class Forward {
 public:
  using T = Accumulator<E>;

  Forward(const AttendInputs& inputs, const Tensor& output, const Tensor& inverses)
      : in_(inputs), output_{output, false}, inverses_(inverses) {}

  void run(const AttendItem& item) const {
    thread_local std::vector<Index> prefixes;
    plan_prefixes(*in_.in.mask, item.sentence, prefixes);
    const Scratchpad pad = cut();
    const Index queries = in_.in.mask->queries.length(item.sentence);
    QueryBlock block;
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      std::fill_n(pad.state, in_.width * in_.value_padded, T{});
      std::fill_n(pad.key_sum, in_.padded, T{});
      Index absorbed = 0;
      for (std::size_t j = 0; j < prefixes.size(); ++j) {
        const Index first = static_cast<Index>(j) * kQueryBlock;
        look(*in_.in.mask, item.sentence, first, std::min(kQueryBlock, queries - first), in_.loops.lanes,
             block);
        for (; absorbed < prefixes[j]; absorbed += kKeyBlock) absorb(item.sentence, absorbed, head, pad);
        run_block(block, prefixes[j], head, pad);
      }
    }
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *keys, *values, *weights, *sums, *denominators, *state, *key_sum;
  };

  Scratchpad cut() const {
    thread_local Scratch scratch;
    const Index width = in_.padded, value_width = in_.value_padded;
    const Index count = kQueryBlock * (2 * width + value_width + 1 + kKeyBlock) +
                        kKeyBlock * (width + value_width) + width * (value_width + 1);
    Workspace space(scratch.get(static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) + 16 * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * width);
    pad.query_columns = space.take<T>(kQueryBlock * width);
    pad.sums = space.take<T>(kQueryBlock * value_width);
    pad.denominators = space.take<T>(kQueryBlock);
    pad.weights = space.take<T>(kQueryBlock * kKeyBlock);
    pad.keys = space.take<T>(kKeyBlock * width);
    pad.values = space.take<T>(kKeyBlock * value_width);
    pad.state = space.take<T>(width * value_width);
    pad.key_sum = space.take<T>(width);
    return pad;
  }

  // Adds one block of keys to the state (equations 10 and 11).
  void absorb(Index sentence, Index first, Index head, const Scratchpad& pad) const {
    const Index row = in_.in.mask->keys.offset(sentence) + first;
    const HeadRows<T> k = in_.keys(row, kKeyBlock, head, pad.keys),
                      v = in_.values(row, kKeyBlock, head, pad.values);
    const T one = 1;
    add_outer(in_.loops, k, in_.width, v, in_.value_padded, kKeyBlock, pad.state);
    add_outer(in_.loops, {&one, 0}, 1, k, in_.padded, kKeyBlock, pad.key_sum);
  }

  void run_block(const QueryBlock& block, Index prefix, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.first_row(block), lanes = block.padded;
    const HeadRows<T> q = in_.queries(row, block.count, head, pad.queries);
    loops.transpose(q.data, q.stride, block.count, in_.padded, T{1}, pad.query_columns, lanes);
    std::fill_n(pad.denominators, lanes, T{});
    std::fill_n(pad.sums, block.count * in_.value_padded, T{});
    if (prefix > 0) {
      loops.product({q.data, q.stride, 1, pad.state, in_.value_padded, pad.sums, in_.value_padded,
                     block.count, in_.value_padded, in_.width, true});
      loops.product(
          {pad.key_sum, 0, 1, pad.query_columns, lanes, pad.denominators, lanes, 1, lanes, in_.width, true});
    }
    for_key_tiles(std::max(block.low, prefix), block.high,
                  [&](Index begin, Index end) { add_pairs(block, begin, end, head, pad); });
    store(block, row, head, pad);
  }

  void add_pairs(const QueryBlock& block, Index begin, Index end, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(block.sentence) + begin, count = end - begin;
    const auto weights = in_.weights(block, begin, end, pad.weights, nullptr);
    in_.score(in_.keys(row, count, head, pad.keys), in_.width, pad.query_columns, weights, pad.weights);
    loops.mask_and_sum(weights, pad.denominators);
    const HeadRows<T> v = in_.values(row, count, head, pad.values);
    const bool guarded = weights.masked && !loops.finite(v.data, v.stride, count, in_.value_padded);
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    product({pad.weights, 1, block.padded, v.data, v.stride, pad.sums, in_.value_padded, block.count,
             in_.value_padded, count, true});
  }

  void store(const QueryBlock& block, Index row, Index head, const Scratchpad& pad) const {
    for (Index t = 0; t < block.count; ++t) {
      if (block.sees_nothing(t)) pad.denominators[t] = 0;
      if (pad.denominators[t] == 0) std::fill_n(pad.sums + t * in_.value_padded, in_.value_padded, T{});
    }
    in_.loops.invert(block.padded, pad.denominators);
    store_rows(in_.loops, pad.sums, in_.value_padded, block.count, in_.value_width, T{1}, pad.denominators,
               output_, row, head * in_.value_width);
    std::copy_n(pad.denominators, block.count, inverses_.data<T>() + head * inverses_.columns() + row);
  }

  HeadInputs<E> in_;
  Target output_;
  const Tensor& inverses_;
};

}  // namespace

void linear_forward(const LinearInputs& inputs, const Tensor& output, const Tensor& inverses) {
  const AttendInputs same = as_attend(inputs);
  dispatch(inputs.query.type(), [&](auto zero) {
    const Forward<decltype(zero)> forward(same, output, inverses);
    run_items(same, sentence_items(same), [&forward](const AttendItem& item) { forward.run(item); });
  });
}

}  // namespace attnlab::kernels
