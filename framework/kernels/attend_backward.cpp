#include "kernels/attend_block.h"

namespace attnlab::kernels {
namespace {

using namespace detail;

// What is wanted from a pass: the gradients of keys and values need all queries of a sentence, those of the
// queries all keys. Long sentences take two passes so that both can be split; sums run in the same order
// either way.
enum class Pass { all, queries, keys };

template <class E>
class Backward {
 public:
  using T = Accumulator<E>;

  Backward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics, const Tensor& d_output,
           const Target& d_query, const Target& d_key, const Target& d_value)
      : in_(inputs),
        output_(output),
        statistics_(statistics),
        d_output_(d_output),
        d_query_(d_query),
        d_key_(d_key),
        d_value_(d_value) {}

  // All gradients of some heads of a sentence.
  void run_sentence(const AttendItem& item) const {
    const Index queries = in_.in.mask->queries.length(item.sentence),
                keys = in_.in.mask->keys.length(item.sentence);
    const Scratchpad pad = cut(keys);
    QueryBlock block;
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, keys);
      for (Index first = 0; first < queries; first += kQueryBlock) {
        const Index count = std::min(kQueryBlock, queries - first);
        if (queries > kQueryBlock || head == item.first_head)
          look(*in_.in.mask, item.sentence, first, count, in_.loops.lanes, block);
        visit_queries(block, head, 0, keys, Pass::all, pad);
      }
      store_keys(pad, item.sentence, 0, keys, head);
    }
  }

  // The gradient of a block of queries.
  void run_queries(const AttendItem& item) const {
    const Scratchpad pad = cut(kKeyBlock);
    QueryBlock block;
    look(*in_.in.mask, item.sentence, item.first_row, item.rows, in_.loops.lanes, block);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      visit_queries(block, head, 0, in_.in.mask->keys.length(item.sentence), Pass::queries, pad);
  }

  // The gradients of a range of keys.
  void run_keys(const AttendItem& item) const {
    const Scratchpad pad = cut(item.rows);
    QueryBlock block;
    const Index queries = in_.in.mask->queries.length(item.sentence);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, item.rows);
      for (Index first = 0; first < queries; first += kQueryBlock) {
        look(*in_.in.mask, item.sentence, first, std::min(kQueryBlock, queries - first), in_.loops.lanes,
             block);
        visit_queries(block, head, item.first_row, item.first_row + item.rows, Pass::keys, pad);
      }
      store_keys(pad, item.sentence, item.first_row, item.rows, head);
    }
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *d_rows, *d_columns, *outputs, *keys, *values, *scores, *d_weights;
    T *d_queries, *maximum, *inverse, *center;
    T *d_keys, *d_values;  // sums over the queries for a range of keys
    std::uint32_t* words;
  };

  Scratchpad cut(Index keys) const {
    thread_local Scratch scratch;
    const Index width = in_.padded, value_width = in_.value_padded;
    const Index count = kQueryBlock * (3 * width + 3 * value_width + 3 + 2 * kKeyBlock) +
                        (kKeyBlock + keys) * (width + value_width);
    Workspace space(scratch.get(
        static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) + kMostWords * 4 + Index{20} * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * width);
    pad.query_columns = space.take<T>(kQueryBlock * width);
    pad.d_queries = space.take<T>(kQueryBlock * width);
    pad.d_rows = space.take<T>(kQueryBlock * value_width);
    pad.d_columns = space.take<T>(kQueryBlock * value_width);
    pad.outputs = space.take<T>(kQueryBlock * value_width);
    pad.maximum = space.take<T>(kQueryBlock);
    pad.inverse = space.take<T>(kQueryBlock);
    pad.center = space.take<T>(kQueryBlock);
    pad.scores = space.take<T>(kQueryBlock * kKeyBlock);
    pad.d_weights = space.take<T>(kQueryBlock * kKeyBlock);
    pad.keys = space.take<T>(kKeyBlock * width);
    pad.values = space.take<T>(kKeyBlock * value_width);
    pad.d_keys = space.take<T>(keys * width);
    pad.d_values = space.take<T>(keys * value_width);
    pad.words = space.take<std::uint32_t>(kMostWords);
    return pad;
  }

  void clear_keys(const Scratchpad& pad, Index keys) const {
    if (d_key_.buffer) std::fill_n(pad.d_keys, keys * in_.padded, T{});
    if (d_value_.buffer) std::fill_n(pad.d_values, keys * in_.value_padded, T{});
  }

  void store_keys(const Scratchpad& pad, Index sentence, Index first, Index keys, Index head) const {
    const Index row = in_.in.mask->keys.offset(sentence) + first;
    if (d_key_.buffer)
      store_rows(in_.loops, pad.d_keys, in_.padded, keys, in_.width, static_cast<T>(in_.in.scale), nullptr,
                 d_key_, row, head * in_.width);
    if (d_value_.buffer)
      store_rows(in_.loops, pad.d_values, in_.value_padded, keys, in_.value_width, T{1}, nullptr, d_value_,
                 row, head * in_.value_width);
  }

  // Adds what the queries of a block give to the keys [key_begin, key_end), and to themselves.
  void visit_queries(QueryBlock& block, Index head, Index key_begin, Index key_end, Pass pass,
                     const Scratchpad& pad) const {
    const Index low = std::max(block.low, key_begin), high = std::min(block.high, key_end);
    const Index row = in_.in.mask->queries.offset(block.sentence) + block.first;
    if (low < high) {
      const Rows rows = load(block, row, head, pad);
      for_key_tiles(low, high, [&](Index begin, Index end) {
        visit_keys(block, rows, head, begin, end, key_begin, pass, pad);
      });
    }
    if (pass == Pass::keys || !d_query_.buffer) return;
    if (block.empty()) std::fill_n(pad.d_queries, block.count * in_.padded, T{});
    store_rows(in_.loops, pad.d_queries, in_.padded, block.count, in_.width, static_cast<T>(in_.in.scale),
               nullptr, d_query_, row, head * in_.width);
  }

  // A block of queries, loaded.
  struct Rows {
    HeadRows<T> queries, d_rows;
    bool finite;
    const T* center;
  };

  Rows load(QueryBlock& block, Index row, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    Rows rows{in_.queries(row, block.count, head, pad.queries),
              in_.value_rows(d_output_, row, block.count, head, pad.d_rows), true, nullptr};
    loops.transpose(rows.queries.data, rows.queries.stride, block.count, in_.padded,
                    static_cast<T>(in_.in.scale) * loops.score_factor, pad.query_columns, block.padded);
    loops.transpose(rows.d_rows.data, rows.d_rows.stride, block.count, in_.value_padded, T{1}, pad.d_columns,
                    block.padded);
    const T* statistics = statistics_.data<T>() + 2 * head * statistics_.columns() + row;
    std::fill_n(pad.maximum, block.padded, T{});
    std::fill_n(pad.inverse, block.padded, T{});
    std::copy_n(statistics, block.count, pad.maximum);
    std::copy_n(statistics + statistics_.columns(), block.count, pad.inverse);
    if (!block.in_one_tile()) rows.center = load_center(block, rows, row, head, pad);
    if (in_.in.drop_threshold) number_draws(in_.in, head, block);
    if (block.masks(block.low, block.high))
      rows.finite = loops.finite(rows.queries.data, rows.queries.stride, block.count, in_.padded) &&
                    loops.finite(rows.d_rows.data, rows.d_rows.stride, block.count, in_.value_padded);
    return rows;
  }

  // The sum over all keys of weight times its gradient, which is the output times its gradient.
  const T* load_center(const QueryBlock& block, const Rows& rows, Index row, Index head,
                       const Scratchpad& pad) const {
    const auto outputs = in_.value_rows(output_, row, block.count, head, pad.outputs);
    std::fill_n(pad.center, block.padded, T{});
    in_.loops.row_products(outputs.data, outputs.stride, rows.d_rows.data, rows.d_rows.stride, block.count,
                           in_.value_padded, pad.center);
    return pad.center;
  }

  void visit_keys(const QueryBlock& block, const Rows& rows, Index head, Index begin, Index end,
                  Index key_begin, Pass pass, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const auto keys = in_.keys(row, count, head, pad.keys), values = in_.values(row, count, head, pad.values);
    auto weights = in_.weights(block, begin, end, pad.scores, pad.d_weights);
    in_.score(keys, in_.width, pad.query_columns, weights, pad.scores);
    in_.score(values, in_.value_width, pad.d_columns, weights, pad.d_weights);
    in_.drop(weights, block, pad.words);
    loops.softmax_backward(weights, pad.maximum, pad.inverse, rows.center);
    // Where some query does not see some key, zero times NaN must not count.
    const bool guarded =
        weights.masked && !(rows.finite && loops.finite(keys.data, keys.stride, count, in_.padded));
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    if (pass != Pass::queries && d_value_.buffer)
      product({pad.scores, lanes, 1, rows.d_rows.data, rows.d_rows.stride,
               pad.d_values + (begin - key_begin) * in_.value_padded, in_.value_padded, count,
               in_.value_padded, block.count, true});
    if (pass != Pass::queries && d_key_.buffer)
      product({pad.d_weights, lanes, 1, rows.queries.data, rows.queries.stride,
               pad.d_keys + (begin - key_begin) * in_.padded, in_.padded, count, in_.padded, block.count,
               true});
    if (pass != Pass::keys && d_query_.buffer)
      product({pad.d_weights, 1, lanes, keys.data, keys.stride, pad.d_queries, in_.padded, block.count,
               in_.padded, count, begin != block.low});
  }

  HeadInputs<E> in_;
  const Tensor &output_, &statistics_, &d_output_;
  const Target &d_query_, &d_key_, &d_value_;
};

}  // namespace

void attend_backward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics,
                     const Tensor& d_output, const Target& d_query, const Target& d_key,
                     const Target& d_value) {
  const Sequences &queries = inputs.mask->queries, &keys = inputs.mask->keys;
  clear_reserved(queries, d_query);
  clear_reserved(keys, d_key);
  clear_reserved(keys, d_value);
  // Long sentences of few heads would leave threads idle: they are split by rows as well.
  Index long_pieces = 0;
  for (Index b = 0; b < queries.count(); ++b)
    if (queries.length(b) > kQueryBlock) long_pieces += inputs.heads;
  const bool split = long_pieces < 4 * thread_count();
  thread_local std::vector<AttendItem> whole, by_queries, by_keys;
  whole.clear(), by_queries.clear(), by_keys.clear();
  for (Index b = 0; b < queries.count(); ++b) {
    if (queries.length(b) <= kQueryBlock || !split) {
      add_items(inputs, b, std::max<Index>(queries.length(b), 1), std::max<Index>(queries.length(b), 1),
                whole);
    } else {
      add_items(inputs, b, queries.length(b), kQueryBlock, by_queries);
      add_items(inputs, b, keys.length(b), 4 * kKeyBlock, by_keys);
    }
  }
  dispatch(inputs.query.type(), [&](auto zero) {
    const Backward<decltype(zero)> backward(inputs, output, statistics, d_output, d_query, d_key, d_value);
    run_items(inputs, whole, [&backward](const AttendItem& item) { backward.run_sentence(item); });
    if (d_query.buffer)
      run_items(inputs, by_queries, [&backward](const AttendItem& item) { backward.run_queries(item); });
    if (d_key.buffer || d_value.buffer)
      run_items(inputs, by_keys, [&backward](const AttendItem& item) { backward.run_keys(item); });
  });
}

}  // namespace attnlab::kernels
