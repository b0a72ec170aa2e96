#include "kernels/attend_block.h"

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
    const Scratchpad pad = cut();
    QueryBlock block;
    look(*in_.in.mask, item.sentence, item.first_row, item.rows, in_.loops.lanes, block);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      run_head(block, head, pad);
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *keys, *values, *scores, *sums, *maximum, *total, *rescale;
    std::uint32_t* words;
  };

  Scratchpad cut() const {
    thread_local Scratch scratch;
    const Index count = kQueryBlock * (2 * in_.padded + in_.value_padded + 3) +
                        kKeyBlock * (in_.padded + in_.value_padded + kQueryBlock);
    Workspace space(scratch.get(
        static_cast<std::size_t>(count * static_cast<Index>(sizeof(T)) + kMostWords * 4 + Index{16} * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * in_.padded);
    pad.query_columns = space.take<T>(kQueryBlock * in_.padded);
    pad.keys = space.take<T>(kKeyBlock * in_.padded);
    pad.values = space.take<T>(kKeyBlock * in_.value_padded);
    pad.scores = space.take<T>(kKeyBlock * kQueryBlock);
    pad.sums = space.take<T>(kQueryBlock * in_.value_padded);
    pad.maximum = space.take<T>(kQueryBlock);
    pad.total = space.take<T>(kQueryBlock);
    pad.rescale = space.take<T>(kQueryBlock);
    pad.words = space.take<std::uint32_t>(kMostWords);
    return pad;
  }

  void run_head(QueryBlock& block, Index head, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->queries.offset(block.sentence) + block.first;
    const auto queries = in_.queries(row, block.count, head, pad.queries);
    loops.transpose(queries.data, queries.stride, block.count, in_.padded,
                    static_cast<T>(in_.in.scale) * loops.score_factor, pad.query_columns, block.padded);
    std::fill_n(pad.maximum, block.padded, -std::numeric_limits<T>::infinity());
    std::fill_n(pad.total, block.padded, T{});
    if (in_.in.drop_threshold) number_draws(in_.in, head, block);
    for_key_tiles(block.low, block.high,
                  [&](Index begin, Index end) { add_keys(block, head, begin, end, pad); });
    if (block.empty()) std::fill_n(pad.sums, block.count * in_.value_padded, T{});
    loops.invert(block.padded, pad.total);
    store_rows(loops, pad.sums, in_.value_padded, block.count, in_.value_width,
               static_cast<T>(in_.keep_scale()), pad.total, output_, row, head * in_.value_width);
    T* statistics = statistics_.data<T>() + 2 * head * statistics_.columns() + row;
    std::copy_n(pad.maximum, block.count, statistics);
    std::copy_n(pad.total, block.count, statistics + statistics_.columns());
  }

  // The part of the result that comes from keys [begin, end).
  void add_keys(const QueryBlock& block, Index head, Index begin, Index end, const Scratchpad& pad) const {
    const auto& loops = in_.loops;
    const Index row = in_.in.mask->keys.offset(block.sentence) + begin, count = end - begin;
    auto weights = in_.weights(block, begin, end, pad.scores, nullptr);
    in_.score(in_.keys(row, count, head, pad.keys), in_.width, pad.query_columns, weights, pad.scores);
    in_.drop(weights, block, pad.words);
    loops.softmax(weights, pad.maximum, pad.total, pad.rescale);
    const bool first = begin == block.low;
    if (!first) loops.scale_rows(pad.sums, block.count, in_.value_padded, pad.rescale);
    const auto values = in_.values(row, count, head, pad.values);
    // A key that some query does not see may hold anything: zero times NaN must not count.
    const bool guarded = weights.masked && !loops.finite(values.data, values.stride, count, in_.value_padded);
    const auto product = guarded ? loops.product_skipping_zeros : loops.product;
    product({pad.scores, 1, block.padded, values.data, values.stride, pad.sums, in_.value_padded, block.count,
             in_.value_padded, count, !first});
  }

  HeadInputs<E> in_;
  Target output_;
  const Tensor& statistics_;
};

}  // namespace

void attend_forward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics) {
  thread_local std::vector<AttendItem> items;
  items.clear();
  for (Index b = 0; b < inputs.mask->queries.count(); ++b)
    add_items(inputs, b, inputs.mask->queries.length(b), kQueryBlock, items);
  dispatch(inputs.query.type(), [&](auto zero) {
    const Forward<decltype(zero)> forward(inputs, output, statistics);
    run_items(inputs, items, [&forward](const AttendItem& item) { forward.run(item); });
  });
}

}  // namespace attnlab::kernels
