#include "kernels/attend_linear_block.h"

namespace attnlab::kernels {
namespace {

using namespace detail;

// With g = d_output / denominator and c = -(d_output . output) / denominator, the gradient of the weight of a
// pair is g_t . v_s + c_t, and everything is linear in it. Queries run forward with the state of the keys
// before them, keys backward with the state of the queries after them (Katharopoulos et al. 2020, eq. 13-15).
template <class E>
class Backward {
 public:
  using T = Accumulator<E>;

  Backward(const AttendInputs& inputs, const Tensor& output, const Tensor& inverses, const Tensor& d_output,
           const Target& d_query, const Target& d_key, const Target& d_value)
      : in_(inputs),
        output_(output),
        inverses_(inverses),
        d_output_(d_output),
        d_query_(d_query),
        d_key_(d_key),
        d_value_(d_value) {}

  void run(const AttendItem& item) const {
    thread_local std::vector<Index> prefixes;
    plan_prefixes(*in_.in.mask, item.sentence, prefixes);
    const Index keys = in_.in.mask->keys.length(item.sentence);
    const Scratchpad pad = cut(keys);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      if (d_query_.buffer) run_queries(item.sentence, head, prefixes, pad);
      if (d_key_.buffer || d_value_.buffer) run_keys(item.sentence, head, prefixes, keys, pad);
    }
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *d_rows, *d_columns, *outputs, *d_shift, *keys, *values, *weights, *d_weights,
        *d_queries;
    T *state, *state_columns, *sum;  // [K, V], [V, K] and [K]: of keys in one pass, of queries in the other
    T *d_keys, *d_values;
  };

  // One block of queries, loaded.
  struct Rows {
    HeadRows<T> queries, d_rows;
    bool finite;
  };

  Scratchpad cut(Index keys) const {
    thread_local Scratch scratch;
    const Index width = in_.padded, value_width = in_.value_padded;
    const Index count = kQueryBlock * (3 * width + 3 * value_width + 1 + 2 * kKeyBlock) +
                        (kKeyBlock + keys) * (width + value_width) + 2 * width * value_width + width;
    Workspace space(scratch.get(static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) + 20 * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * width);
    pad.query_columns = space.take<T>(kQueryBlock * width);
    pad.d_queries = space.take<T>(kQueryBlock * width);
    pad.d_rows = space.take<T>(kQueryBlock * value_width);
    pad.d_columns = space.take<T>(kQueryBlock * value_width);
    pad.outputs = space.take<T>(kQueryBlock * value_width);
    pad.d_shift = space.take<T>(kQueryBlock);
    pad.weights = space.take<T>(kQueryBlock * kKeyBlock);
    pad.d_weights = space.take<T>(kQueryBlock * kKeyBlock);
    pad.keys = space.take<T>(kKeyBlock * width);
    pad.values = space.take<T>(kKeyBlock * value_width);
    pad.d_keys = space.take<T>(keys * width);
    pad.d_values = space.take<T>(keys * value_width);
    pad.state = space.take<T>(width * value_width);
    pad.state_columns = space.take<T>(width * value_width);
    pad.sum = space.take<T>(width);
    return pad;
  }

  void clear_state(const Scratchpad& pad) const {
    std::fill_n(pad.state, in_.padded * in_.value_padded, T{});
    std::fill_n(pad.state_columns, in_.padded * in_.value_padded, T{});
    std::fill_n(pad.sum, in_.padded, T{});
  }

  Rows load(const QueryBlock& block, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.first_row(block), count = block.count;
    const Tensor d_head = d_output_.column_view(head * in_.value_width, in_.value_width).row_view(row, count);
    loops.load(d_head.raw(), d_head.type(), d_head.row_stride(), count, in_.value_width, in_.value_padded,
               pad.d_rows);
    loops.scale_rows(pad.d_rows, count, in_.value_padded,
                     inverses_.data<T>() + head * inverses_.columns() + row);
    for (Index t = 0; t < count; ++t)
      if (block.sees_nothing(t)) std::fill_n(pad.d_rows + t * in_.value_padded, in_.value_padded, T{});
    const auto outputs = in_.value_rows(output_, row, count, head, pad.outputs);
    std::fill_n(pad.d_shift, block.padded, T{});
    loops.row_products(outputs.data, outputs.stride, pad.d_rows, in_.value_padded, count, in_.value_padded,
                       pad.d_shift);
    for (Index t = 0; t < count; ++t) pad.d_shift[t] = -pad.d_shift[t];
    Rows rows{in_.queries(row, count, head, pad.queries), {pad.d_rows, in_.value_padded}, true};
    loops.transpose(rows.queries.data, rows.queries.stride, count, in_.padded, T{1}, pad.query_columns,
                    block.padded);
    loops.transpose(pad.d_rows, in_.value_padded, count, in_.value_padded, T{1}, pad.d_columns, block.padded);
    rows.finite = loops.finite(rows.queries.data, rows.queries.stride, count, in_.padded) &&
                  loops.finite(pad.d_rows, in_.value_padded, count, in_.value_padded);
    return rows;
  }

  void look_at(Index sentence, std::size_t j, QueryBlock& block) const {
    const Index first = static_cast<Index>(j) * kQueryBlock;
    look(*in_.in.mask, sentence, first, std::min(kQueryBlock, in_.in.mask->queries.length(sentence) - first),
         in_.loops.lanes, block);
  }

  void run_queries(Index sentence, Index head, const std::vector<Index>& prefixes,
                   const Scratchpad& pad) const {
    clear_state(pad);
    const auto& loops = in_.loops;
    const T one = 1;
    QueryBlock block;
    Index absorbed = 0;
    for (std::size_t j = 0; j < prefixes.size(); ++j) {
      look_at(sentence, j, block);
      for (; absorbed < prefixes[j]; absorbed += kKeyBlock) {
        const Index row = in_.in.mask->keys.offset(sentence) + absorbed;
        const HeadRows<T> k = in_.keys(row, kKeyBlock, head, pad.keys),
                          v = in_.values(row, kKeyBlock, head, pad.values);
        add_outer(loops, v, in_.value_width, k, in_.padded, kKeyBlock, pad.state_columns);
        add_outer(loops, {&one, 0}, 1, k, in_.padded, kKeyBlock, pad.sum);
      }
      const Rows rows = load(block, head, pad);
      std::fill_n(pad.d_queries, block.count * in_.padded, T{});
      if (prefixes[j] > 0) {
        loops.product({rows.d_rows.data, rows.d_rows.stride, 1, pad.state_columns, in_.padded, pad.d_queries,
                       in_.padded, block.count, in_.padded, in_.value_width, true});
        add_outer(loops, {pad.d_shift, 1}, block.count, {pad.sum, 0}, in_.padded, 1, pad.d_queries);
      }
      for_key_tiles(std::max(block.low, prefixes[j]), block.high,
                    [&](Index begin, Index end) { pair_queries(block, begin, end, head, pad); });
      const Index row = in_.in.mask->queries.offset(sentence) + block.first;
      store_rows(loops, pad.d_queries, in_.padded, block.count, in_.width, T{1}, nullptr, d_query_, row,
                 head * in_.width);
    }
  }

  // The gradient of the queries of a block through keys [begin, end).
  void pair_queries(const QueryBlock& block, Index begin, Index end, Index head,
                    const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const HeadRows<T> k = in_.keys(row, count, head, pad.keys), v = in_.values(row, count, head, pad.values);
    const auto weights = in_.weights(block, begin, end, pad.weights, pad.d_weights);
    in_.score(v, in_.value_width, pad.d_columns, weights, pad.d_weights);
    loops.shift_and_mask(weights, pad.d_shift);
    const bool guarded = weights.masked && !loops.finite(k.data, k.stride, count, in_.padded);
    (guarded ? loops.product_skipping_zeros
             : loops.product)({pad.d_weights, 1, lanes, k.data, k.stride, pad.d_queries, in_.padded,
                               block.count, in_.padded, count, true});
  }

  void run_keys(Index sentence, Index head, const std::vector<Index>& prefixes, Index count,
                const Scratchpad& pad) const {
    clear_state(pad);
    std::fill_n(pad.d_keys, count * in_.padded, T{});
    std::fill_n(pad.d_values, count * in_.value_padded, T{});
    const auto& loops = in_.loops;
    QueryBlock block;
    for (std::size_t j = prefixes.size(); j-- > 0;) {
      look_at(sentence, j, block);
      const Rows rows = load(block, head, pad);
      for_key_tiles(std::max(block.low, prefixes[j]), block.high,
                    [&](Index begin, Index end) { pair_keys(block, rows, begin, end, head, pad); });
      if (prefixes[j] == 0) continue;
      add_outer(loops, rows.queries, in_.width, rows.d_rows, in_.value_padded, block.count, pad.state);
      add_outer(loops, rows.d_rows, in_.value_width, rows.queries, in_.padded, block.count,
                pad.state_columns);
      add_outer(loops, {pad.d_shift, 1}, 1, rows.queries, in_.padded, block.count, pad.sum);
      for (Index first = j > 0 ? prefixes[j - 1] : 0; first < prefixes[j]; first += kKeyBlock)
        finish_keys(sentence, first, head, pad);
    }
    store_keys(sentence, head, count, pad);
  }

  // The gradients of keys and values [begin, end) through the queries of a block.
  void pair_keys(const QueryBlock& block, const Rows& rows, Index begin, Index end, Index head,
                 const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const HeadRows<T> k = in_.keys(row, count, head, pad.keys), v = in_.values(row, count, head, pad.values);
    const auto weights = in_.weights(block, begin, end, pad.weights, pad.d_weights);
    in_.score(k, in_.width, pad.query_columns, weights, pad.weights);
    in_.score(v, in_.value_width, pad.d_columns, weights, pad.d_weights);
    loops.shift_and_mask(weights, pad.d_shift);
    const auto product = weights.masked && !rows.finite ? loops.product_skipping_zeros : loops.product;
    product({pad.weights, lanes, 1, rows.d_rows.data, rows.d_rows.stride,
             pad.d_values + begin * in_.value_padded, in_.value_padded, count, in_.value_padded, block.count,
             true});
    product({pad.d_weights, lanes, 1, rows.queries.data, rows.queries.stride, pad.d_keys + begin * in_.padded,
             in_.padded, count, in_.padded, block.count, true});
  }

  // Adds what the state of later queries gives to a block of keys.
  void finish_keys(Index sentence, Index first, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(sentence) + first;
    const HeadRows<T> k = in_.keys(row, kKeyBlock, head, pad.keys),
                      v = in_.values(row, kKeyBlock, head, pad.values);
    const T one = 1;
    T* d_keys = pad.d_keys + first * in_.padded;
    loops.product({k.data, k.stride, 1, pad.state, in_.value_padded, pad.d_values + first * in_.value_padded,
                   in_.value_padded, kKeyBlock, in_.value_padded, in_.width, true});
    loops.product({v.data, v.stride, 1, pad.state_columns, in_.padded, d_keys, in_.padded, kKeyBlock,
                   in_.padded, in_.value_width, true});
    loops.product({&one, 0, 0, pad.sum, 0, d_keys, in_.padded, kKeyBlock, in_.padded, 1, true});
  }

  void store_keys(Index sentence, Index head, Index count, const Scratchpad& pad) const {
    const Index row = in_.in.mask->keys.offset(sentence);
    if (d_key_.buffer)
      store_rows(in_.loops, pad.d_keys, in_.padded, count, in_.width, T{1}, nullptr, d_key_, row,
                 head * in_.width);
    if (d_value_.buffer)
      store_rows(in_.loops, pad.d_values, in_.value_padded, count, in_.value_width, T{1}, nullptr, d_value_,
                 row, head * in_.value_width);
  }

  HeadInputs<E> in_;
  const Tensor &output_, &inverses_, &d_output_;
  const Target &d_query_, &d_key_, &d_value_;
};

}  // namespace

void linear_backward(const LinearInputs& inputs, const Tensor& output, const Tensor& inverses,
                     const Tensor& d_output, const Target& d_query, const Target& d_key,
                     const Target& d_value) {
  const AttendInputs same = as_attend(inputs);
  clear_reserved(inputs.mask->queries, d_query);
  clear_reserved(inputs.mask->keys, d_key);
  clear_reserved(inputs.mask->keys, d_value);
  dispatch(inputs.query.type(), [&](auto zero) {
    const Backward<decltype(zero)> backward(same, output, inverses, d_output, d_query, d_key, d_value);
    run_items(same, sentence_items(same), [&backward](const AttendItem& item) { backward.run(item); });
  });
}

}  // namespace attnlab::kernels
