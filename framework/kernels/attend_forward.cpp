#include "kernels/attend_block.h"

namespace attnlab::kernels {
namespace {

using namespace detail;

template <class E>
class Forward {
 public:
  using T = Accumulator<E>;

  Forward(const AttendInputs& inputs, const Tensor& output, const Tensor& log_sums)
      : in_(inputs), sizes_(inputs), output_(output), log_sums_(log_sums) {}

  void run(const AttendItem& item) const {
    thread_local Scratch scratch;
    const Scratchpad pad = cut(scratch);
    QueryBlock block;
    look(*in_.mask, item.sentence, item.first_row, item.rows, sizes_.loops.lanes, block);
    for (Index head = item.first_head; head < item.first_head + item.heads; ++head)
      run_head(block, head, pad);
  }

 private:
  struct Scratchpad {
    T *queries, *query_columns, *keys, *values, *scores, *sums, *maximum, *total, *rescale, *log_sum;
    std::uint32_t* words;
  };

  Scratchpad cut(Scratch& scratch) const {
    const Index per_block = kQueryBlock * (2 * sizes_.padded + sizes_.value_padded) +
                            kKeyBlock * (sizes_.padded + sizes_.value_padded + kQueryBlock) + 4 * kQueryBlock;
    Workspace space(scratch.get(static_cast<std::size_t>(per_block * static_cast<Index>(sizeof(T)) +
                                                         kMostWords * 4 + Index{16} * 64)));
    Scratchpad pad{};
    pad.queries = space.take<T>(kQueryBlock * sizes_.padded);
    pad.query_columns = space.take<T>(kQueryBlock * sizes_.padded);
    pad.keys = space.take<T>(kKeyBlock * sizes_.padded);
    pad.values = space.take<T>(kKeyBlock * sizes_.value_padded);
    pad.scores = space.take<T>(kKeyBlock * kQueryBlock);
    pad.sums = space.take<T>(kQueryBlock * sizes_.value_padded);
    pad.maximum = space.take<T>(kQueryBlock);
    pad.total = space.take<T>(kQueryBlock);
    pad.rescale = space.take<T>(kQueryBlock);
    pad.log_sum = space.take<T>(kQueryBlock);
    pad.words = space.take<std::uint32_t>(kMostWords);
    return pad;
  }

  void run_head(QueryBlock& block, Index head, const Scratchpad& pad) const {
    const Index row = in_.mask->queries.offset(block.sentence) + block.first;
    const auto queries = head_rows<E>(in_.query, row, block.count, head * sizes_.width, sizes_.width,
                                      sizes_.padded, pad.queries);
    sizes_.loops.transpose(queries.data, queries.stride, block.count, sizes_.width,
                           static_cast<T>(in_.scale) * sizes_.loops.score_factor, pad.query_columns,
                           block.padded);
    std::fill_n(pad.maximum, block.padded, -std::numeric_limits<T>::infinity());
    std::fill_n(pad.total, block.padded, T{});
    if (in_.drop_threshold) number_draws(in_, head, block);
    bool first = true;
    for (Index begin = block.low; begin < block.high; first = false) {
      const Index end = std::min((begin / kKeyBlock + 1) * kKeyBlock, block.high);
      add_keys(block, head, begin, end, first, pad);
      begin = end;
    }
    sizes_.loops.finish(block.padded, pad.maximum, pad.total, static_cast<T>(sizes_.keep_scale), pad.log_sum);
    if (first) std::fill_n(pad.sums, block.count * sizes_.value_padded, T{});
    store(block, row, head, pad);
  }

  // The part of the result that comes from keys [begin, end).
  void add_keys(const QueryBlock& block, Index head, Index begin, Index end, bool first,
                const Scratchpad& pad) const {
    const Index row = in_.mask->keys.offset(block.sentence) + begin, count = end - begin;
    const auto keys =
        head_rows<E>(in_.key, row, count, head * sizes_.width, sizes_.width, sizes_.padded, pad.keys);
    sizes_.loops.product({keys.data, keys.stride, 1, pad.query_columns, block.padded, pad.scores,
                          block.padded, count, block.padded, sizes_.width, false});
    WeightBlock<T> weights{pad.scores,
                           nullptr,
                           count,
                           block.padded,
                           begin,
                           block.begin.data(),
                           block.end.data(),
                           block.masks(begin, end),
                           draw_dropout(in_, sizes_, block, begin, end, pad.words)};
    sizes_.loops.softmax(weights, pad.maximum, pad.total, pad.rescale);
    if (!first) shrink(block, pad);
    const auto values = head_rows<E>(in_.value, row, count, head * sizes_.value_width, sizes_.value_width,
                                     sizes_.value_padded, pad.values);
    const BlockProduct<T> product{
        pad.scores,          1,           block.padded,        values.data, values.stride, pad.sums,
        sizes_.value_padded, block.count, sizes_.value_padded, count,       !first};
    if (weights.masked && !sizes_.loops.finite(values.data, values.stride, count, sizes_.value_padded))
      sizes_.loops.product_skipping_zeros(product);  // a key that is not seen may hold anything
    else
      sizes_.loops.product(product);
  }

  void shrink(const QueryBlock& block, const Scratchpad& pad) const {
    for (Index t = 0; t < block.count; ++t) {
      const T factor = pad.rescale[t];
      T* line = pad.sums + t * sizes_.value_padded;
      for (Index j = 0; j < sizes_.value_padded; ++j) line[j] *= factor;
    }
  }

  void store(const QueryBlock& block, Index row, Index head, const Scratchpad& pad) const {
    T* log_sums = log_sums_.data<T>() + row * in_.heads + head;
    for (Index t = 0; t < block.count; ++t) {
      T* line = pad.sums + t * sizes_.value_padded;
      if (block.sees_nothing(t)) std::fill_n(line, sizes_.value_width, T{});
      store_row(line, sizes_.value_width, pad.total[t], output_, row + t, head * sizes_.value_width, false);
      log_sums[t * in_.heads] = pad.log_sum[t];
    }
  }

  const AttendInputs& in_;
  AttendSizes<T> sizes_;
  const Tensor& output_;
  const Tensor& log_sums_;
};

}  // namespace

void attend_forward(const AttendInputs& inputs, const Tensor& output, const Tensor& log_sums) {
  const auto items = query_items(inputs);
  dispatch(inputs.query.type(), [&](auto zero) {
    const Forward<decltype(zero)> forward(inputs, output, log_sums);
    run_items(items, [&](const AttendItem& item) { forward.run(item); });
  });
}

}  // namespace attnlab::kernels
