#include "data/batches.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

std::vector<Example> some_examples(Index count) {
  const Random random(7, stream_name("test"));
  std::vector<Example> examples;
  for (Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    Example example;
    for (std::uint64_t k = 0; k < 1 + random.below(2 * at, 30); ++k) {
      example.source.push_back(static_cast<Token>(100 * i + static_cast<Index>(k)));
    }
    for (std::uint64_t k = 0; k < 2 + random.below(2 * at + 1, 30); ++k) {
      example.target.push_back(static_cast<Token>(1000 * i + static_cast<Index>(k)));
    }
    examples.push_back(example);
  }
  return examples;
}

std::vector<Index> sorted_flat(const BatchLists& lists) {
  std::vector<Index> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("gather lays sentences one after another and shifts the target by one") {
  const std::vector<Example> examples{{{5, 6, 2}, {1, 7, 2}}, {{2}, {1, 2}}, {{8, 2}, {1, 9, 10, 2}}};
  const std::vector<Index> chosen{2, 0, 1};
  const Batch batch = gather(examples, chosen);
  CHECK(batch.source == std::vector<Token>{8, 2, 5, 6, 2, 2});
  CHECK(batch.target_in == std::vector<Token>{1, 9, 10, 1, 7, 1});
  CHECK(batch.target_out == std::vector<Token>{9, 10, 2, 7, 2, 2});
  CHECK(batch.source_rows.offsets == std::vector<Index>{0, 2, 5, 6});
  CHECK(batch.target_rows.offsets == std::vector<Index>{0, 3, 5, 6});
  CHECK(batch.examples == chosen);
  CHECK(batch.sentences() == 3);
  CHECK(batch.target_tokens() == 6);
}

TEST_CASE("a language model's batch has no source rows") {
  const std::vector<Example> examples{{{}, {4, 5, 6}}, {{}, {7, 8}}};
  const Batch batch = gather(examples, std::vector<Index>{0, 1});
  CHECK(batch.source.empty());
  CHECK(batch.source_rows.count() == 2);
  CHECK(batch.source_rows.rows() == 0);
  CHECK(batch.target_in == std::vector<Token>{4, 5, 7});
  CHECK(batch.target_out == std::vector<Token>{5, 6, 8});
}

TEST_CASE("micro-batches together are the whole batch, in order, with counted rows") {
  const std::vector<Example> examples = some_examples(32);
  std::vector<Index> chosen(32);
  for (Index i = 0; i < 32; ++i) chosen[static_cast<std::size_t>(i)] = 31 - i;
  const Batch whole = gather(examples, chosen);
  for (const Index pieces : {1, 4, 5, 32, 100}) {
    const std::vector<Batch> parts = gather_pieces(examples, chosen, pieces);
    CHECK(static_cast<Index>(parts.size()) == std::min<Index>(pieces, 32));
    std::vector<Token> source, target_out;
    for (const Batch& part : parts) {
      CHECK(part.source_rows.first_row == static_cast<Index>(source.size()));
      CHECK(part.target_rows.first_row == static_cast<Index>(target_out.size()));
      CHECK(part.sentences() > 0);
      source.insert(source.end(), part.source.begin(), part.source.end());
      target_out.insert(target_out.end(), part.target_out.begin(), part.target_out.end());
    }
    CHECK(source == whole.source);
    CHECK(target_out == whole.target_out);
  }
}

TEST_CASE("every epoch has every example once, within the token limit") {
  const std::vector<Example> examples = some_examples(500);
  for (const bool bucketed : {true, false}) {
    for (const bool shuffled : {true, false}) {
      const BatchOptions options{.tokens = 100, .bucketed = bucketed, .shuffled = shuffled, .seed = 3};
      const BatchLists plan = plan_batches(examples, options, 2);
      const std::vector<Index> all = sorted_flat(plan);
      REQUIRE(all.size() == 500);
      for (Index i = 0; i < 500; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
      for (const auto& list : plan) CHECK(gather(examples, list).target_tokens() <= 100);
      CHECK(plan == plan_batches(examples, options, 2));
      CHECK((plan == plan_batches(examples, options, 3)) == !shuffled);
    }
  }
}

TEST_CASE("unshuffled, unbucketed batches keep the order; a long example is a batch of its own") {
  std::vector<Example> examples = some_examples(4);
  examples[1].target.assign(500, 1);
  const BatchLists plan = plan_batches(examples, {.tokens = 100, .bucketed = false, .shuffled = false}, 0);
  std::vector<Index> flat;
  for (const auto& list : plan) {
    flat.insert(flat.end(), list.begin(), list.end());
    if (std::find(list.begin(), list.end(), 1) != list.end()) CHECK(list.size() == 1);
  }
  CHECK(flat == std::vector<Index>{0, 1, 2, 3});
}

TEST_CASE("a stream resumes at any position with the same batches") {
  const std::vector<Example> examples = some_examples(200);
  const BatchOptions options{.tokens = 80, .seed = 11};
  BatchStream unbroken(examples, options);
  std::vector<std::vector<Index>> batches;
  std::vector<BatchPosition> positions;
  const Index steps = 2 * unbroken.batches_in_epoch() + 3;
  for (Index i = 0; i < steps; ++i) {
    positions.push_back(unbroken.position());
    batches.push_back(unbroken.next());
  }
  CHECK(unbroken.position().epoch == 2);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    BatchStream resumed(examples, options);
    resumed.seek(positions[i]);
    for (std::size_t k = i; k < std::min(i + 3, batches.size()); ++k) CHECK(resumed.next() == batches[k]);
  }
  BatchStream other(examples, options);
  CHECK_THROWS_AS(other.seek({0, 10000}), DataError);
  const std::vector<Example> none;
  CHECK_THROWS_AS(BatchStream(none, options), DataError);
}

TEST_CASE("the padding that ragged batches avoid is counted") {
  const std::vector<Example> examples{{{1, 2, 3}, {1, 2}}, {{1}, {1, 2, 3, 4}}};
  const PaddingReport report = padding_avoided(examples, {{0, 1}});
  CHECK(report.source_rows == 4);
  CHECK(report.source_padded == 6);
  CHECK(report.target_rows == 4);
  CHECK(report.target_padded == 6);
  CHECK(report.share() == Approx(1.0 / 3));
  CHECK(padding_avoided(examples, {{0}, {1}}).share() == 0);
  const std::vector<Example> many = some_examples(500);
  const BatchOptions sorted{.tokens = 100}, mixed{.tokens = 100, .bucketed = false};
  CHECK(padding_avoided(many, plan_batches(many, sorted, 0)).share() <
        padding_avoided(many, plan_batches(many, mixed, 0)).share());
}
