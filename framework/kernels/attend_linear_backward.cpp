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
        sizes_(inputs),
        output_(output),
        inverses_(inverses),
        d_output_(d_output),
        d_query_(d_query),
        d_key_(d_key),
        d_value_(d_value) {}

  void run(const AttendItem& item) const {
    thread_local std::vector<Index> prefixes;
    plan_prefixes(*in_.mask, item.sentence, prefixes);
    const Index keys = in_.mask->keys.length(item.sentence);
    const Scratchpad pad = cut(keys);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      if (d_query_.buffer) run_queries(item.sentence, head, prefixes, pad);
      if (d_key_.buffer || d_value_.buffer) run_keys(item.sentence, head, prefixes, keys, pad);
    }
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *d_rows, *d_columns, *d_shift, *keys, *values, *weights, *d_weights,
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
    const Index width = sizes_.padded, value_width = sizes_.value_padded;
    const Index count = kQueryBlock * (3 * width + 2 * value_width + 1 + 2 * kKeyBlock) +
                        (kKeyBlock + keys) * (width + value_width) + 2 * width * value_width + width;
    Workspace space(scratch.get(static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) + 20 * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * width);
    pad.query_columns = space.take<T>(kQueryBlock * width);
    pad.d_queries = space.take<T>(kQueryBlock * width);
    pad.d_rows = space.take<T>(kQueryBlock * value_width);
    pad.d_columns = space.take<T>(kQueryBlock * value_width);
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
    std::fill_n(pad.state, sizes_.padded * sizes_.value_padded, T{});
    std::fill_n(pad.state_columns, sizes_.padded * sizes_.value_padded, T{});
    std::fill_n(pad.sum, sizes_.padded, T{});
  }

  HeadRows<T> keys(Index row, Index count, Index head, const Scratchpad& pad) const {
    return head_rows<E>(in_.key, row, count, head * sizes_.width, sizes_.width, sizes_.padded, pad.keys);
  }
  HeadRows<T> values(Index row, Index count, Index head, const Scratchpad& pad) const {
    return head_rows<E>(in_.value, row, count, head * sizes_.value_width, sizes_.value_width,
                        sizes_.value_padded, pad.values);
  }

  Rows load(const QueryBlock& block, Index head, const Scratchpad& pad) const {
    const auto& loops = sizes_.loops;
    const Index row = in_.mask->queries.offset(block.sentence) + block.first,
                column = head * sizes_.value_width;
    const E *out = output_.data<E>() + row * output_.row_stride() + column,
            *d_out = d_output_.data<E>() + row * d_output_.row_stride() + column;
    std::fill_n(pad.d_shift, block.padded, T{});
    for (Index t = 0; t < block.count; ++t, out += output_.row_stride(), d_out += d_output_.row_stride()) {
      const bool empty = block.sees_nothing(t);
      const T inverse = inverses_.data<T>()[(row + t) * in_.heads + head];
      T* line = pad.d_rows + t * sizes_.value_padded;
      for (Index j = 0; j < sizes_.value_padded; ++j)
        line[j] = j < sizes_.value_width && !empty ? static_cast<T>(d_out[j]) * inverse : T{};
      for (Index j = 0; j < sizes_.value_width; ++j) pad.d_shift[t] -= static_cast<T>(out[j]) * line[j];
    }
    Rows rows{head_rows<E>(in_.query, row, block.count, head * sizes_.width, sizes_.width, sizes_.padded,
                           pad.queries),
              {pad.d_rows, sizes_.value_padded},
              true};
    loops.transpose(rows.queries.data, rows.queries.stride, block.count, sizes_.width, T{1},
                    pad.query_columns, block.padded);
    loops.transpose(pad.d_rows, sizes_.value_padded, block.count, sizes_.value_width, T{1}, pad.d_columns,
                    block.padded);
    rows.finite = loops.finite(rows.queries.data, rows.queries.stride, block.count, sizes_.padded) &&
                  loops.finite(pad.d_rows, sizes_.value_padded, block.count, sizes_.value_padded);
    return rows;
  }

  void look_at(Index sentence, std::size_t j, QueryBlock& block) const {
    const Index first = static_cast<Index>(j) * kQueryBlock;
    look(*in_.mask, sentence, first, std::min(kQueryBlock, in_.mask->queries.length(sentence) - first),
         sizes_.loops.lanes, block);
  }

  // Calls visit(begin, end) for the tiles of keys that are weighed pair by pair.
  template <class Visit>
  static void for_pairs(const QueryBlock& block, Index prefix, Visit&& visit) {
    for (Index begin = std::max(block.low, prefix); begin < block.high;) {
      const Index end = std::min((begin / kKeyBlock + 1) * kKeyBlock, block.high);
      visit(begin, end);
      begin = end;
    }
  }

  void run_queries(Index sentence, Index head, const std::vector<Index>& prefixes,
                   const Scratchpad& pad) const {
    clear_state(pad);
    const auto& loops = sizes_.loops;
    const T one = 1;
    QueryBlock block;
    Index absorbed = 0;
    for (std::size_t j = 0; j < prefixes.size(); ++j) {
      look_at(sentence, j, block);
      for (; absorbed < prefixes[j]; absorbed += kKeyBlock) {
        const Index row = in_.mask->keys.offset(sentence) + absorbed;
        const HeadRows<T> k = keys(row, kKeyBlock, head, pad), v = values(row, kKeyBlock, head, pad);
        add_outer(loops, v, sizes_.value_width, k, sizes_.padded, kKeyBlock, pad.state_columns);
        add_outer(loops, {&one, 0}, 1, k, sizes_.padded, kKeyBlock, pad.sum);
      }
      const Rows rows = load(block, head, pad);
      std::fill_n(pad.d_queries, block.count * sizes_.padded, T{});
      if (prefixes[j] > 0) {
        loops.product({rows.d_rows.data, rows.d_rows.stride, 1, pad.state_columns, sizes_.padded,
                       pad.d_queries, sizes_.padded, block.count, sizes_.padded, sizes_.value_width, true});
        add_outer(loops, {pad.d_shift, 1}, block.count, {pad.sum, 0}, sizes_.padded, 1, pad.d_queries);
      }
      for_pairs(block, prefixes[j],
                [&](Index begin, Index end) { pair_queries(block, begin, end, head, pad); });
      const Index row = in_.mask->queries.offset(sentence) + block.first;
      for (Index t = 0; t < block.count; ++t)
        store_row(pad.d_queries + t * sizes_.padded, sizes_.width, T{1}, d_query_.buffer, row + t,
                  head * sizes_.width, d_query_.add);
    }
  }

  // The gradient of the queries of a block through keys [begin, end).
  void pair_queries(const QueryBlock& block, Index begin, Index end, Index head,
                    const Scratchpad& pad) const {
    const auto& loops = sizes_.loops;
    const Index row = in_.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const HeadRows<T> k = keys(row, count, head, pad), v = values(row, count, head, pad);
    loops.product({v.data, v.stride, 1, pad.d_columns, lanes, pad.d_weights, lanes, count, lanes,
                   sizes_.value_width, false});
    const WeightBlock<T> weights{
        pad.weights,      pad.d_weights,           count, lanes, begin, block.begin.data(),
        block.end.data(), block.masks(begin, end), {}};
    loops.shift_and_mask(weights, pad.d_shift);
    const bool guarded = weights.masked && !loops.finite(k.data, k.stride, count, sizes_.padded);
    (guarded ? loops.product_skipping_zeros
             : loops.product)({pad.d_weights, 1, lanes, k.data, k.stride, pad.d_queries, sizes_.padded,
                               block.count, sizes_.padded, count, true});
  }

  void run_keys(Index sentence, Index head, const std::vector<Index>& prefixes, Index count,
                const Scratchpad& pad) const {
    clear_state(pad);
    std::fill_n(pad.d_keys, count * sizes_.padded, T{});
    std::fill_n(pad.d_values, count * sizes_.value_padded, T{});
    const auto& loops = sizes_.loops;
    QueryBlock block;
    for (std::size_t j = prefixes.size(); j-- > 0;) {
      look_at(sentence, j, block);
      const Rows rows = load(block, head, pad);
      for_pairs(block, prefixes[j],
                [&](Index begin, Index end) { pair_keys(block, rows, begin, end, head, pad); });
      if (prefixes[j] == 0) continue;
      add_outer(loops, rows.queries, sizes_.width, rows.d_rows, sizes_.value_padded, block.count, pad.state);
      add_outer(loops, rows.d_rows, sizes_.value_width, rows.queries, sizes_.padded, block.count,
                pad.state_columns);
      add_outer(loops, {pad.d_shift, 1}, 1, rows.queries, sizes_.padded, block.count, pad.sum);
      for (Index first = j > 0 ? prefixes[j - 1] : 0; first < prefixes[j]; first += kKeyBlock)
        finish_keys(sentence, first, head, pad);
    }
    store_keys(sentence, head, count, pad);
  }

  // The gradients of keys and values [begin, end) through the queries of a block.
  void pair_keys(const QueryBlock& block, const Rows& rows, Index begin, Index end, Index head,
                 const Scratchpad& pad) const {
    const auto& loops = sizes_.loops;
    const Index row = in_.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const HeadRows<T> k = keys(row, count, head, pad), v = values(row, count, head, pad);
    loops.product({k.data, k.stride, 1, pad.query_columns, lanes, pad.weights, lanes, count, lanes,
                   sizes_.width, false});
    loops.product({v.data, v.stride, 1, pad.d_columns, lanes, pad.d_weights, lanes, count, lanes,
                   sizes_.value_width, false});
    const WeightBlock<T> weights{
        pad.weights,      pad.d_weights,           count, lanes, begin, block.begin.data(),
        block.end.data(), block.masks(begin, end), {}};
    loops.shift_and_mask(weights, pad.d_shift);
    const auto product = weights.masked && !rows.finite ? loops.product_skipping_zeros : loops.product;
    product({pad.weights, lanes, 1, rows.d_rows.data, rows.d_rows.stride,
             pad.d_values + begin * sizes_.value_padded, sizes_.value_padded, count, sizes_.value_padded,
             block.count, true});
    product({pad.d_weights, lanes, 1, rows.queries.data, rows.queries.stride,
             pad.d_keys + begin * sizes_.padded, sizes_.padded, count, sizes_.padded, block.count, true});
  }

  // Adds what the state of later queries gives to a block of keys.
  void finish_keys(Index sentence, Index first, Index head, const Scratchpad& pad) const {
    const auto& loops = sizes_.loops;
    const Index row = in_.mask->keys.offset(sentence) + first;
    const HeadRows<T> k = keys(row, kKeyBlock, head, pad), v = values(row, kKeyBlock, head, pad);
    const T one = 1;
    T* d_keys = pad.d_keys + first * sizes_.padded;
    loops.product({k.data, k.stride, 1, pad.state, sizes_.value_padded,
                   pad.d_values + first * sizes_.value_padded, sizes_.value_padded, kKeyBlock,
                   sizes_.value_padded, sizes_.width, true});
    loops.product({v.data, v.stride, 1, pad.state_columns, sizes_.padded, d_keys, sizes_.padded, kKeyBlock,
                   sizes_.padded, sizes_.value_width, true});
    loops.product({&one, 0, 0, pad.sum, 0, d_keys, sizes_.padded, kKeyBlock, sizes_.padded, 1, true});
  }

  void store_keys(Index sentence, Index head, Index count, const Scratchpad& pad) const {
    const Index row = in_.mask->keys.offset(sentence);
    for (Index s = 0; s < count; ++s) {
      if (d_key_.buffer)
        store_row(pad.d_keys + s * sizes_.padded, sizes_.width, T{1}, d_key_.buffer, row + s,
                  head * sizes_.width, d_key_.add);
      if (d_value_.buffer)
        store_row(pad.d_values + s * sizes_.value_padded, sizes_.value_width, T{1}, d_value_.buffer, row + s,
                  head * sizes_.value_width, d_value_.add);
    }
  }

  const AttendInputs& in_;
  AttendSizes<T> sizes_;
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
    run_items(sentence_items(same), [&](const AttendItem& item) { backward.run(item); });
  });
}

}  // namespace attnlab::kernels
