#include "kernels/attend_group.h"

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
    const Index together = std::min(kTogether, queries);
    Scratchpad pad = cut(keys, together);
    QueryGroup group;
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, keys);
      for (Index first = 0; first < queries; first += together) {
        if (queries > together || head == item.first_head)
          look(item.sentence, first, std::min(together, queries - first), group);
        visit_queries(group, head, 0, keys, Pass::all, pad);
      }
      store_keys(pad, item.sentence, 0, keys, head);
    }
  }

  // The gradients of some queries.
  void run_queries(const AttendItem& item) const {
    Scratchpad pad = cut(kKeyBlock, item.rows);
    QueryGroup group;
    look(item.sentence, item.first_row, item.rows, group);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      visit_queries(group, head, 0, in_.in.mask->keys.length(item.sentence), Pass::queries, pad);
  }

  // The gradients of a range of keys.
  void run_keys(const AttendItem& item) const {
    const Index queries = in_.in.mask->queries.length(item.sentence);
    const Index together = std::min(kTogether, queries);
    Scratchpad pad = cut(item.rows, together);
    QueryGroup group;
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head) {
      clear_keys(pad, item.rows);
      for (Index first = 0; first < queries; first += together) {
        look(item.sentence, first, std::min(together, queries - first), group);
        visit_queries(group, head, item.first_row, item.first_row + item.rows, Pass::keys, pad);
      }
      store_keys(pad, item.sentence, item.first_row, item.rows, head);
    }
  }

 private:
  static constexpr Index kTogether = kMostBlocks * kQueryBlock;

  // Of one block of queries.
  struct State {
    T *query_room, *query_columns, *d_row_room, *d_columns, *d_queries, *maximum, *inverse, *center;
    HeadRows<T> queries, d_rows;
    bool finite, centered;
  };
  struct Scratchpad {
    std::array<State, kMostBlocks> blocks;
    T *outputs, *keys, *values, *scores, *d_weights;
    T *d_keys, *d_values;  // sums over the queries for a range of keys
    std::uint32_t* words;

    State& operator[](Index i) { return blocks[static_cast<std::size_t>(i)]; }
  };

  void look(Index sentence, Index first, Index rows, QueryGroup& group) const {
    group.look(*in_.in.mask, sentence, first, rows, in_.loops.lanes);
  }

  Scratchpad cut(Index keys, Index queries) const {
    thread_local Scratch scratch;
    const Index width = in_.padded, value_width = in_.value_padded;
    const Index blocks = (queries + kQueryBlock - 1) / kQueryBlock;
    const Index count = blocks * kQueryBlock * (3 * width + 2 * value_width + 3) +
                        kQueryBlock * (value_width + 2 * kKeyBlock) +
                        (kKeyBlock + keys) * (width + value_width);
    Workspace space(scratch.get(static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) +
                                                         kMostWords * 4 + (8 * blocks + 8) * 64)));
    Scratchpad pad{};
    for (Index i = 0; i < blocks; ++i) {
      pad[i].query_room = space.take<T>(kQueryBlock * width);
      pad[i].query_columns = space.take<T>(kQueryBlock * width);
      pad[i].d_queries = space.take<T>(kQueryBlock * width);
      pad[i].d_row_room = space.take<T>(kQueryBlock * value_width);
      pad[i].d_columns = space.take<T>(kQueryBlock * value_width);
      pad[i].maximum = space.take<T>(kQueryBlock);
      pad[i].inverse = space.take<T>(kQueryBlock);
      pad[i].center = space.take<T>(kQueryBlock);
    }
    pad.outputs = space.take<T>(kQueryBlock * value_width);
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

  // Adds what some queries give to the keys [key_begin, key_end), and to themselves.
  void visit_queries(QueryGroup& group, Index head, Index key_begin, Index key_end, Pass pass,
                     Scratchpad& pad) const {
    for (Index i = 0; i < group.count(); ++i)
      if (std::max(group[i].low, key_begin) < std::min(group[i].high, key_end))
        load(group[i], head, pad.outputs, pad[i]);
    visit_key_tiles(in_, group, head, key_begin, key_end, pad.keys, pad.values,
                    [&](const KeyTile<T>& tile, Index i, Index begin, Index end) {
                      visit_keys(group[i], pad[i], tile, begin, end, key_begin, pass, pad);
                    });
    if (pass == Pass::keys || !d_query_.buffer) return;
    for (Index i = 0; i < group.count(); ++i) {
      const QueryBlock& block = group[i];
      if (block.empty()) std::fill_n(pad[i].d_queries, block.count * in_.padded, T{});
      store_rows(in_.loops, pad[i].d_queries, in_.padded, block.count, in_.width,
                 static_cast<T>(in_.in.scale), nullptr, d_query_, in_.first_row(block), head * in_.width);
    }
  }

  void load(QueryBlock& block, Index head, T* output_room, State& state) const {
    const auto& loops = in_.loops;
    const Index row = in_.first_row(block);
    const auto queries = state.queries = in_.queries(row, block.count, head, state.query_room);
    const auto d_rows = state.d_rows = in_.value_rows(d_output_, row, block.count, head, state.d_row_room);
    loops.transpose(queries.data, queries.stride, block.count, in_.padded,
                    static_cast<T>(in_.in.scale) * loops.score_factor, state.query_columns, block.padded);
    loops.transpose(d_rows.data, d_rows.stride, block.count, in_.value_padded, T{1}, state.d_columns,
                    block.padded);
    const T* statistics = statistics_.data<T>() + 2 * head * statistics_.columns() + row;
    std::fill_n(state.maximum, block.padded, T{});
    std::fill_n(state.inverse, block.padded, T{});
    std::copy_n(statistics, block.count, state.maximum);
    std::copy_n(statistics + statistics_.columns(), block.count, state.inverse);
    state.centered = !block.in_one_tile();
    if (state.centered) load_center(block, head, output_room, state);
    if (in_.in.drop_threshold) number_draws(in_.in, head, block);
    state.finite = !block.masks(block.low, block.high) ||
                   (loops.finite(queries.data, queries.stride, block.count, in_.padded) &&
                    loops.finite(d_rows.data, d_rows.stride, block.count, in_.value_padded));
  }

  // The sum over all keys of weight times its gradient, which is the output times its gradient.
  void load_center(const QueryBlock& block, Index head, T* output_room, const State& state) const {
    const auto outputs = in_.value_rows(output_, in_.first_row(block), block.count, head, output_room);
    std::fill_n(state.center, block.padded, T{});
    in_.loops.row_products(outputs.data, outputs.stride, state.d_rows.data, state.d_rows.stride, block.count,
                           in_.value_padded, state.center);
  }

  void visit_keys(const QueryBlock& block, const State& state, const KeyTile<T>& tile, Index begin, Index end,
                  Index key_begin, Pass pass, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index count = end - begin, lanes = block.padded;
    const auto keys = tile.keys_from(begin), values = tile.values_from(begin);
    auto weights = in_.weights(block, begin, end, pad.scores, pad.d_weights);
    in_.score(keys, in_.width, state.query_columns, weights, pad.scores);
    in_.score(values, in_.value_width, state.d_columns, weights, pad.d_weights);
    in_.drop(weights, block, pad.words);
    loops.softmax_backward(weights, state.maximum, state.inverse, state.centered ? state.center : nullptr);
    // Where some query does not see some key, zero times NaN must not count.
    const bool guarded =
        weights.masked && !(state.finite && loops.finite(keys.data, keys.stride, count, in_.padded));
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    if (pass != Pass::queries && d_value_.buffer)
      product({pad.scores, lanes, 1, state.d_rows.data, state.d_rows.stride,
               pad.d_values + (begin - key_begin) * in_.value_padded, in_.value_padded, count,
               in_.value_padded, block.count, true});
    if (pass != Pass::queries && d_key_.buffer)
      product({pad.d_weights, lanes, 1, state.queries.data, state.queries.stride,
               pad.d_keys + (begin - key_begin) * in_.padded, in_.padded, count, in_.padded, block.count,
               true});
    if (pass != Pass::keys && d_query_.buffer)
      product({pad.d_weights, 1, lanes, keys.data, keys.stride, state.d_queries, in_.padded, block.count,
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
      add_items(inputs, b, queries.length(b), kQueryBlock * blocks_together(inputs), by_queries);
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
