#include "data/batches.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace attnlab {
namespace {

const Example& at(const std::vector<Example>& examples, Index i) {
  return examples[static_cast<std::size_t>(i)];
}

Index longer_side(const Example& example) { return std::max(example.source_rows(), example.target_rows()); }

// The order in which an epoch goes through the examples before they are cut.
std::vector<Index> example_order(const std::vector<Example>& examples, const BatchOptions& options,
                                 Index epoch) {
  const auto count = static_cast<Index>(examples.size());
  std::vector<Index> order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffled) {
    order = Random(options.seed, stream_name("data.examples"), static_cast<std::uint64_t>(epoch))
                .permutation(count);
  }
  if (options.bucketed) {
    std::stable_sort(order.begin(), order.end(), [&examples](Index a, Index b) {
      return longer_side(at(examples, a)) < longer_side(at(examples, b));
    });
  }
  return order;
}

}  // namespace

Batch gather(const std::vector<Example>& examples, std::span<const Index> chosen) {
  Batch batch;
  batch.examples.assign(chosen.begin(), chosen.end());
  std::vector<Index> source_lengths, target_lengths;
  for (const Index i : chosen) {
    const Example& example = at(examples, i);
    batch.source.insert(batch.source.end(), example.source.begin(), example.source.end());
    batch.vectors.insert(batch.vectors.end(), example.vectors.begin(), example.vectors.end());
    batch.target_in.insert(batch.target_in.end(), example.target.begin(), example.target.end() - 1);
    batch.target_out.insert(batch.target_out.end(), example.target.begin() + 1, example.target.end());
    source_lengths.push_back(example.source_rows());
    target_lengths.push_back(example.target_rows());
  }
  batch.source_rows = Sequences::of_lengths(source_lengths);
  batch.target_rows = Sequences::of_lengths(target_lengths);
  return batch;
}

std::vector<Batch> gather_pieces(const std::vector<Example>& examples, std::span<const Index> chosen,
                                 Index pieces) {
  const auto count = static_cast<Index>(chosen.size());
  pieces = std::clamp<Index>(pieces, 1, std::max<Index>(count, 1));
  std::vector<Batch> result;
  Index source_before = 0, target_before = 0;
  for (Index piece = 0; piece < pieces; ++piece) {
    const Index begin = count * piece / pieces, end = count * (piece + 1) / pieces;
    Batch batch = gather(
        examples, chosen.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    batch.source_rows.first_row = source_before;
    batch.target_rows.first_row = target_before;
    source_before += batch.source_rows.rows();
    target_before += batch.target_rows.rows();
    result.push_back(std::move(batch));
  }
  return result;
}

BatchLists plan_batches(const std::vector<Example>& examples, const BatchOptions& options, Index epoch) {
  BatchLists batches;
  Index tokens = 0;
  for (const Index i : example_order(examples, options, epoch)) {
    const Index rows = at(examples, i).target_rows();
    if (batches.empty() || tokens + rows > options.tokens) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(i);
    tokens += rows;
  }
  if (!options.shuffled || !options.bucketed) return batches;
  // Sorted by length so far: no run should see the short sentences first.
  const Random random(options.seed, stream_name("data.batches"), static_cast<std::uint64_t>(epoch));
  BatchLists mixed;
  for (const Index i : random.permutation(static_cast<Index>(batches.size()))) {
    mixed.push_back(std::move(batches[static_cast<std::size_t>(i)]));
  }
  return mixed;
}

PaddingReport padding_avoided(const std::vector<Example>& examples, const BatchLists& batches) {
  PaddingReport report;
  for (const std::vector<Index>& batch : batches) {
    Index source_longest = 0, target_longest = 0;
    for (const Index i : batch) {
      const Example& example = at(examples, i);
      report.source_rows += example.source_rows();
      report.target_rows += example.target_rows();
      source_longest = std::max(source_longest, example.source_rows());
      target_longest = std::max(target_longest, example.target_rows());
    }
    report.source_padded += source_longest * static_cast<Index>(batch.size());
    report.target_padded += target_longest * static_cast<Index>(batch.size());
  }
  return report;
}

BatchStream::BatchStream(const std::vector<Example>& examples, BatchOptions options)
    : examples_(examples), options_(options) {
  if (examples.empty()) throw DataError("the training split has no examples");
  check(options.tokens > 0, "batch tokens must be positive, not ", options.tokens);
  plan_ = plan_batches(examples_, options_, 0);
}

std::vector<Index> BatchStream::next() {
  if (position_.batch == batches_in_epoch()) seek({position_.epoch + 1, 0});
  return plan_[static_cast<std::size_t>(position_.batch++)];
}

void BatchStream::seek(BatchPosition position) {
  if (position.epoch != position_.epoch) plan_ = plan_batches(examples_, options_, position.epoch);
  position_.epoch = position.epoch;
  if (position.batch < 0 || position.batch > batches_in_epoch()) {
    throw DataError(join_text("cannot resume at batch ", position.batch, " of epoch ", position.epoch,
                              ", which has ", batches_in_epoch(), ": the corpus or the batch size differs"));
  }
  position_.batch = position.batch;
}

}  // namespace attnlab
