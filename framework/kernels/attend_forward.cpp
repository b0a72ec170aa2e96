#include "kernels/attend_group.h"

namespace attnlab::kernels {
namespace {

using namespace detail;

template <class E>
class Forward {
 public:
  using T = Accumulator<E>;

  Forward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics)
      : in_(inputs), output_{output, false}, statistics_(statistics) {}

  void run(const AttendItem& item) const {
    QueryGroup group;
    group.look(*in_.in.mask, item.sentence, item.first_row, item.rows, in_.loops.lanes);
    Scratchpad pad = cut(group.count());
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      run_head(group, head, pad);
  }

 private:
  // Of one block of queries.
  struct State {
    T *room, *columns, *sums, *maximum, *total;
    HeadRows<T> queries;
    bool few;
  };
  struct Scratchpad {
    std::array<State, kMostBlocks> blocks;
    T *keys, *values, *scores, *rescale;
    std::uint32_t* words;

    State& operator[](Index i) { return blocks[static_cast<std::size_t>(i)]; }
  };

  Scratchpad cut(Index blocks) const {
    thread_local Scratch scratch;
    const Index block = kQueryBlock * (2 * in_.padded + in_.value_padded + 2);
    const Index count =
        blocks * block + kKeyBlock * (in_.padded + in_.value_padded + kQueryBlock) + kQueryBlock;
    Workspace space(scratch.get(static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) +
                                                         kMostWords * 4 + (5 * blocks + 6) * 64)));
    Scratchpad pad{};
    for (Index i = 0; i < blocks; ++i) {
      pad[i].room = space.take<T>(kQueryBlock * in_.padded);
      pad[i].columns = space.take<T>(kQueryBlock * in_.padded);
      pad[i].sums = space.take<T>(kQueryBlock * in_.value_padded);
      pad[i].maximum = space.take<T>(kQueryBlock);
      pad[i].total = space.take<T>(kQueryBlock);
    }
    pad.keys = space.take<T>(kKeyBlock * in_.padded);
    pad.values = space.take<T>(kKeyBlock * in_.value_padded);
    pad.scores = space.take<T>(kKeyBlock * kQueryBlock);
    pad.rescale = space.take<T>(kQueryBlock);
    pad.words = space.take<std::uint32_t>(kMostWords);
    return pad;
  }

  void run_head(QueryGroup& group, Index head, Scratchpad& pad) const {
    for (Index i = 0; i < group.count(); ++i) start(group[i], head, pad[i]);
    visit_key_tiles(in_, group, head, 0, in_.in.mask->keys.length(group.sentence()), pad.keys, pad.values,
                    [&](const KeyTile<T>& tile, Index i, Index begin, Index end) {
                      if (pad[i].few)
                        add_keys_to_each(group[i], head, pad[i], tile, begin, end, pad);
                      else
                        add_keys(group[i], pad[i], tile, begin, end, pad);
                    });
    for (Index i = 0; i < group.count(); ++i) finish(group[i], head, pad[i]);
  }

  T scale() const { return static_cast<T>(in_.in.scale) * in_.loops.score_factor; }

  void start(QueryBlock& block, Index head, State& state) const {
    state.queries = in_.queries(in_.first_row(block), block.count, head, state.room);
    state.few = are_few(block);
    std::fill_n(state.maximum, block.padded, -std::numeric_limits<T>::infinity());
    std::fill_n(state.total, block.padded, T{});
    if (state.few) return scale_queries(block, state);
    in_.loops.transpose(state.queries.data, state.queries.stride, block.count, in_.padded, scale(),
                        state.columns, block.padded);
    if (in_.in.drop_threshold) number_draws(in_.in, head, block);
  }

  // As transpose() does for many.
  void scale_queries(const QueryBlock& block, State& state) const {
    const T factor = scale();
    for (Index t = 0; t < block.count; ++t)
      for (Index j = 0; j < in_.padded; ++j)
        state.columns[t * in_.padded + j] = state.queries.data[t * state.queries.stride + j] * factor;
    state.queries = {state.columns, in_.padded};
  }

  void finish(const QueryBlock& block, Index head, const State& state) const {
    const Index row = in_.first_row(block);
    if (block.empty()) std::fill_n(state.sums, block.count * in_.value_padded, T{});
    in_.loops.invert(block.padded, state.total);
    store_rows(in_.loops, state.sums, in_.value_padded, block.count, in_.value_width,
               static_cast<T>(in_.keep_scale()), state.total, output_, row, head * in_.value_width);
    T* statistics = statistics_.data<T>() + 2 * head * statistics_.columns() + row;
    std::copy_n(state.maximum, block.count, statistics);
    std::copy_n(state.total, block.count, statistics + statistics_.columns());
  }

  // The part of the result that comes from keys [begin, end).
  void add_keys(const QueryBlock& block, const State& state, const KeyTile<T>& tile, Index begin, Index end,
                const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index count = end - begin;
    auto weights = in_.weights(block, begin, end, pad.scores, nullptr);
    in_.score(tile.keys_from(begin), in_.width, state.columns, weights, pad.scores);
    in_.drop(weights, block, pad.words);
    loops.softmax(weights, state.maximum, state.total, pad.rescale);
    const bool first = begin == block.low;
    if (!first) loops.scale_rows(state.sums, block.count, in_.value_padded, pad.rescale);
    const auto values = tile.values_from(begin);
    // A key that some query does not see may hold anything: zero times NaN must not count.
    const bool guarded = weights.masked && !loops.finite(values.data, values.stride, count, in_.value_padded);
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    product({pad.scores, 1, block.padded, values.data, values.stride, state.sums, in_.value_padded,
             block.count, in_.value_padded, count, !first});
  }

  // Whether a third of the lanes or more would be idle, where lanes are queries.
  bool are_few(const QueryBlock& block) const {
    return 3 * block.count <= 2 * in_.loops.lanes && in_.in.drop_threshold == 0 &&
           !block.masks(block.low, block.high);
  }

  // The same for few queries, which see all of these keys.
  void add_keys_to_each(const QueryBlock& block, Index head, const State& state, const KeyTile<T>& tile,
                        Index begin, Index end, const Scratchpad& pad) const {
    const auto keys = tile.keys_from(begin), values = tile.values_from(begin);
    for (Index t = 0; t < block.count; ++t) {
      const T* next = t + 1 == block.count ? keys_after(block.sentence, head, begin) : nullptr;
      in_.loops.attend_query(
          {state.queries.data + t * state.queries.stride, keys.data, keys.stride, values.data, values.stride,
           end - begin, in_.padded, in_.value_padded, pad.scores, state.sums + t * in_.value_padded,
           begin == block.low, t == 0, next},
          state.maximum + t, state.total + t);
    }
  }

  // Where the keys of the next head lie, or of the next sentence, if keys are read in place.
  const T* keys_after(Index sentence, Index head, Index key) const {
    if (!std::is_same_v<E, T> || in_.width != in_.padded) return nullptr;
    if (++head == in_.in.heads) head = 0, key = 0, ++sentence;
    if (sentence == in_.in.mask->keys.count()) return nullptr;
    const Tensor& keys = in_.in.key;
    const Index row = in_.in.mask->keys.offset(sentence) + key;
    return static_cast<const T*>(keys.raw()) + row * keys.row_stride() + head * in_.width;
  }

  HeadInputs<E> in_;
  Target output_;
  const Tensor& statistics_;
};

}  // namespace

void attend_forward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics) {
  thread_local std::vector<AttendItem> items;
  items.clear();
  const Index rows = kQueryBlock * blocks_together(inputs);
  for (Index b = 0; b < inputs.mask->queries.count(); ++b)
    add_items(inputs, b, inputs.mask->queries.length(b), rows, items);
  dispatch(inputs.query.type(), [&](auto zero) {
    const Forward<decltype(zero)> forward(inputs, output, statistics);
    run_items(inputs, items, [&forward](const AttendItem& item) { forward.run(item); });
  });
}

}  // namespace attnlab::kernels
