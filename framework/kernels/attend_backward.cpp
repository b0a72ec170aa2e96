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

  Backward(const AttendInputs& inputs, const Tensor& output, const Tensor& log_sums, const Tensor& d_output,
           const Target& d_query, const Target& d_key, const Target& d_value)
      : in_(inputs),
        sizes_(inputs),
        output_(output),
        log_sums_(log_sums),
        d_output_(d_output),
        d_query_(d_query),
        d_key_(d_key),
        d_value_(d_value) {}

  // All gradients of some heads of a sentence.
  void run_sentence(const AttendItem& item) const {
    const Index queries = in_.mask->queries.length(item.sentence),
                keys = in_.mask->keys.length(item.sentence);
    const Scratchpad pad = cut(keys);
    QueryBlock block;
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, keys);
      for (Index first = 0; first < queries; first += kQueryBlock) {
        const Index count = std::min(kQueryBlock, queries - first);
        if (queries > kQueryBlock || head == item.first_head)
          look(*in_.mask, item.sentence, first, count, sizes_.loops.lanes, block);
        visit_queries(block, head, 0, keys, Pass::all, pad);
      }
      store_keys(pad, item.sentence, 0, keys, head);
    }
  }

  // The gradient of a block of queries of one head.
  void run_queries(const AttendItem& item) const {
    const Scratchpad pad = cut(kKeyBlock);
    QueryBlock block;
    look(*in_.mask, item.sentence, item.first_row, item.rows, sizes_.loops.lanes, block);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      visit_queries(block, head, 0, in_.mask->keys.length(item.sentence), Pass::queries, pad);
  }

  // The gradients of a range of keys of one head.
  void run_keys(const AttendItem& item) const {
    const Scratchpad pad = cut(item.rows);
    QueryBlock block;
    const Index queries = in_.mask->queries.length(item.sentence);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, item.rows);
      for (Index first = 0; first < queries; first += kQueryBlock) {
        look(*in_.mask, item.sentence, first, std::min(kQueryBlock, queries - first), sizes_.loops.lanes,
             block);
        visit_queries(block, head, item.first_row, item.first_row + item.rows, Pass::keys, pad);
      }
      store_keys(pad, item.sentence, item.first_row, item.rows, head);
    }
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *d_rows, *d_columns, *keys, *key_columns, *values, *scores, *d_weights;
    T *d_queries, *log_sum, *delta;
    T *d_keys, *d_values;  // sums over the queries for a range of keys
    std::uint32_t* words;
  };

  Scratchpad cut(Index keys) const {
    thread_local Scratch scratch;
    const Index width = sizes_.padded, value_width = sizes_.value_padded;
    const Index per_block = kQueryBlock * (3 * width + 2 * value_width + 2 + 2 * kKeyBlock) +
                            kKeyBlock * (width + value_width) + keys * (width + value_width);
    Workspace space(scratch.get(static_cast<std::size_t>(per_block * static_cast<Index>(sizeof(T)) +
                                                         kMostWords * 4 + Index{16} * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * width);
    pad.query_columns = space.take<T>(kQueryBlock * width);
    pad.d_queries = space.take<T>(kQueryBlock * width);
    pad.d_rows = space.take<T>(kQueryBlock * value_width);
    pad.d_columns = space.take<T>(kQueryBlock * value_width);
    pad.log_sum = space.take<T>(kQueryBlock);
    pad.delta = space.take<T>(kQueryBlock);
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
    if (d_key_.buffer) std::fill_n(pad.d_keys, keys * sizes_.padded, T{});
    if (d_value_.buffer) std::fill_n(pad.d_values, keys * sizes_.value_padded, T{});
  }

  void store_keys(const Scratchpad& pad, Index sentence, Index first, Index keys, Index head) const {
    const Index row = in_.mask->keys.offset(sentence) + first;
    for (Index s = 0; s < keys; ++s) {
      if (d_key_.buffer)
        store_row(pad.d_keys + s * sizes_.padded, sizes_.width, static_cast<T>(in_.scale), d_key_.buffer,
                  row + s, head * sizes_.width, d_key_.add);
      if (d_value_.buffer)
        store_row(pad.d_values + s * sizes_.value_padded, sizes_.value_width, T{1}, d_value_.buffer, row + s,
                  head * sizes_.value_width, d_value_.add);
    }
  }

  // Adds what the queries of a block give to the keys [key_begin, key_end), and to themselves.
  void visit_queries(QueryBlock& block, Index head, Index key_begin, Index key_end, Pass pass,
                     const Scratchpad& pad) const {
    const Index low = std::max(block.low, key_begin), high = std::min(block.high, key_end);
    const Index row = in_.mask->queries.offset(block.sentence) + block.first;
    const bool wants_queries = pass != Pass::keys && d_query_.buffer;
    if (wants_queries) std::fill_n(pad.d_queries, block.count * sizes_.padded, T{});
    if (low < high) {
      const Rows rows = load(block, row, head, pad);
      for (Index begin = low; begin < high;) {
        const Index end = std::min((begin / kKeyBlock + 1) * kKeyBlock, high);
        visit_keys(block, rows, head, begin, end, key_begin, pass, pad);
        begin = end;
      }
    }
    if (!wants_queries) return;
    for (Index t = 0; t < block.count; ++t)
      store_row(pad.d_queries + t * sizes_.padded, sizes_.width, static_cast<T>(in_.scale), d_query_.buffer,
                row + t, head * sizes_.width, d_query_.add);
  }

  struct Rows {
    HeadRows<T> queries, d_rows;
    bool finite;
  };

  // Brings in a block of queries: rows and columns of q and of the output's gradient, and the sum over keys
  // of weight times its gradient, which is the output times its gradient.
  Rows load(QueryBlock& block, Index row, Index head, const Scratchpad& pad) const {
    const Index column = head * sizes_.value_width;
    Rows rows{head_rows<E>(in_.query, row, block.count, head * sizes_.width, sizes_.width, sizes_.padded,
                           pad.queries),
              head_rows<E>(d_output_, row, block.count, column, sizes_.value_width, sizes_.value_padded,
                           pad.d_rows),
              true};
    sizes_.loops.transpose(rows.queries.data, rows.queries.stride, block.count, sizes_.width,
                           static_cast<T>(in_.scale) * sizes_.loops.score_factor, pad.query_columns,
                           block.padded);
    sizes_.loops.transpose(rows.d_rows.data, rows.d_rows.stride, block.count, sizes_.value_width, T{1},
                           pad.d_columns, block.padded);
    const E* out = output_.data<E>() + row * output_.row_stride() + column;
    const T* log_sums = log_sums_.data<T>() + row * in_.heads + head;
    for (Index t = 0; t < block.padded; ++t) {
      T sum = 0;
      if (t < block.count)
        for (Index j = 0; j < sizes_.value_width; ++j)
          sum += static_cast<T>(out[t * output_.row_stride() + j]) *
                 rows.d_rows.data[t * rows.d_rows.stride + j];
      pad.delta[t] = sum;
      pad.log_sum[t] = t < block.count ? log_sums[t * in_.heads] : std::numeric_limits<T>::infinity();
    }
    if (in_.drop_threshold) number_draws(in_, head, block);
    rows.finite = sizes_.loops.finite(rows.queries.data, rows.queries.stride, block.count, sizes_.padded) &&
                  sizes_.loops.finite(rows.d_rows.data, rows.d_rows.stride, block.count, sizes_.value_padded);
    return rows;
  }

  void visit_keys(const QueryBlock& block, const Rows& rows, Index head, Index begin, Index end,
                  Index key_begin, Pass pass, const Scratchpad& pad) const {
    const auto& loops = sizes_.loops;
    const Index row = in_.mask->keys.offset(block.sentence) + begin, count = end - begin,
                lanes = block.padded;
    const auto keys =
        head_rows<E>(in_.key, row, count, head * sizes_.width, sizes_.width, sizes_.padded, pad.keys);
    const auto values = head_rows<E>(in_.value, row, count, head * sizes_.value_width, sizes_.value_width,
                                     sizes_.value_padded, pad.values);
    loops.product({keys.data, keys.stride, 1, pad.query_columns, lanes, pad.scores, lanes, count, lanes,
                   sizes_.width, false});
    loops.product({values.data, values.stride, 1, pad.d_columns, lanes, pad.d_weights, lanes, count, lanes,
                   sizes_.value_width, false});
    const WeightBlock<T> weights{pad.scores,
                                 pad.d_weights,
                                 count,
                                 lanes,
                                 begin,
                                 block.begin.data(),
                                 block.end.data(),
                                 block.masks(begin, end),
                                 draw_dropout(in_, sizes_, block, begin, end, pad.words)};
    loops.softmax_backward(weights, pad.log_sum, pad.delta);
    const bool guarded =
        weights.masked && !(rows.finite && loops.finite(keys.data, keys.stride, count, sizes_.padded));
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    if (pass != Pass::queries && d_value_.buffer)
      product({pad.scores, lanes, 1, rows.d_rows.data, rows.d_rows.stride,
               pad.d_values + (begin - key_begin) * sizes_.value_padded, sizes_.value_padded, count,
               sizes_.value_padded, block.count, true});
    if (pass != Pass::queries && d_key_.buffer)
      product({pad.d_weights, lanes, 1, rows.queries.data, rows.queries.stride,
               pad.d_keys + (begin - key_begin) * sizes_.padded, sizes_.padded, count, sizes_.padded,
               block.count, true});
    if (pass != Pass::keys && d_query_.buffer)
      product({pad.d_weights, 1, lanes, keys.data, keys.stride, pad.d_queries, sizes_.padded, block.count,
               sizes_.padded, count, true});
  }

  const AttendInputs& in_;
  AttendSizes<T> sizes_;
  const Tensor &output_, &log_sums_, &d_output_;
  const Target &d_query_, &d_key_, &d_value_;
};

}  // namespace

void attend_backward(const AttendInputs& inputs, const Tensor& output, const Tensor& log_sums,
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
  std::vector<AttendItem> whole, by_queries, by_keys;
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
    const Backward<decltype(zero)> backward(inputs, output, log_sums, d_output, d_query, d_key, d_value);
    run_items(whole, [&](const AttendItem& item) { backward.run_sentence(item); });
    if (d_query.buffer) run_items(by_queries, [&](const AttendItem& item) { backward.run_queries(item); });
    if (d_key.buffer || d_value.buffer)
      run_items(by_keys, [&](const AttendItem& item) { backward.run_keys(item); });
  });
}

}  // namespace attnlab::kernels
