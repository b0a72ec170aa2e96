#include "study/statistics.h"

#include <cmath>

#include "config/registry.h"
#include "core/error.h"
#include "study/hierarchical.h"
#include "study/score_intervals.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace attnlab;

namespace {

using Numbers = std::vector<double>;
Approx near(double value) { return Approx(value).epsilon(1e-10).margin(1e-14); }

}  // namespace

TEST_CASE("statistics of one sample are SciPy's") {
  const auto statistics = golden("statistics.json");
  for (const auto& sample : statistics["samples"]) {
    const auto values = sample["values"].get<Numbers>();
    CHECK(mean(values) == near(sample["mean"]));
    CHECK(standard_deviation(values) == near(sample["sd"]));
    CHECK(standard_error(values) == near(sample["error"]));
    CHECK(t_test_above(values, 0.25) == near(sample["above_quarter"]));
    const Interval95 interval = confidence_interval(values);
    CHECK(interval.low == near(sample["interval"][0]));
    CHECK(interval.high == near(sample["interval"][1]));
    CHECK(sign_test(values) == near(sample["sign"]));
    CHECK(equivalence_test(values, sample["margin"]) == near(sample["equivalence"]));
  }
}

TEST_CASE("Student's t and its inverse are SciPy's") {
  const auto stored = golden("statistics.json");
  for (const auto& one : stored["student"]) CHECK(student_cdf(one["t"], one["freedom"]) == near(one["cdf"]));
  for (const auto& one : stored["quantile"])
    CHECK(student_quantile(one["p"], one["freedom"]) == near(one["t"]));
}

TEST_CASE("slopes, Holm and detectable differences are those of NumPy and SciPy") {
  const auto stored = golden("statistics.json");
  const auto x = stored["x"].get<Numbers>(), y = stored["y"].get<Numbers>();
  CHECK(log_log_slope(x, y) == near(stored["slope"]));
  const Numbers corrected = holm(stored["p"].get<Numbers>());
  for (std::size_t i = 0; i < corrected.size(); ++i) CHECK(corrected[i] == near(stored["holm"][i]));
  for (const auto& one : stored["binomial"])
    CHECK(binomial_tail(one["k"], one["n"], one["q"]) == near(one["tail"]));
  const auto& detectable = stored["detectable"];
  CHECK(detectable_difference(detectable["sd"], detectable["n"]) == near(detectable["value"]));
}

TEST_CASE("the bootstrap over seeds and sentences is NumPy's, draw for draw") {
  const auto stored = golden("statistics.json")["hierarchical"];
  std::vector<SeedPair> seeds(stored["hits"][0].size());
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    for (const double hit : stored["hits"][0][s].get<Numbers>()) seeds[s].arm.push_back({hit, 1});
    for (const double hit : stored["hits"][1][s].get<Numbers>()) seeds[s].other.push_back({hit, 1});
  }
  const auto drawn = [&stored](const char* name) {
    return [&table = stored[name]](Index resample, Index place) {
      return table[static_cast<std::size_t>(resample)][static_cast<std::size_t>(place)].get<Index>();
    };
  };
  const auto score = Registry<ScoreSpec>::make("exact_match");
  const auto expected = stored["resampled"].get<Numbers>();
  const auto result = hierarchical_bootstrap(*score, seeds, std::ssize(expected), drawn("seed_draws"),
                                             drawn("sentence_draws"));
  CHECK(result.difference == near(stored["difference"]));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(result.resampled[i] == near(expected[i]));
  CHECK(result.interval.low == near(stored["interval"][0]));
  CHECK(result.interval.high == near(stored["interval"][1]));
  seeds[0].arm.pop_back();
  CHECK_THROWS_AS(hierarchical_bootstrap(*score, seeds, 5, drawn("seed_draws"), drawn("sentence_draws")),
                  DataError);
}

TEST_CASE("few values are no evidence") {
  const Numbers none, one{3.0};
  CHECK(std::isnan(mean(none)));
  CHECK(std::isnan(standard_deviation(one)));
  CHECK(std::isnan(t_test_above(one, 0)));
  CHECK(sign_test(none) == 1);
  CHECK(sign_test(Numbers{1, 2, 3}) == near(0.125));
  CHECK(sign_test(Numbers{0, 0}) == 1);
  CHECK(std::isinf(detectable_difference(1, 1)));
  CHECK(t_test_above(Numbers{2, 2, 2}, 1) == 0);
  CHECK(std::isnan(log_log_slope(Numbers{1, 2}, Numbers{1, -1})));
  CHECK_THROWS_AS(paired_differences(one, none), ShapeError);
}

TEST_CASE("intervals of a study's scores resample seeds and sentences, with the same draws for all arms") {
  const auto score = Registry<ScoreSpec>::make("exact_match");
  // Sentences that either arm gets right; the second arm lacks a seed.
  const auto arm = [](const std::string& name, const std::vector<std::vector<double>>& hits) {
    ScoredArm result{name, "base", {}, {}};
    for (std::size_t seed = 0; seed < hits.size(); ++seed)
      for (const double hit : hits[seed]) result.seeds[static_cast<std::int64_t>(seed)].push_back({hit, 1});
    return result;
  };
  const ScoredArm base = arm("base", {{1, 0, 1, 1, 0}, {1, 1, 1, 1, 0}, {0, 0, 1, 0, 1}});
  const ScoredArm other = arm("other", {{0, 0, 1, 0, 0}, {1, 0, 0, 1, 0}});
  const auto intervals = score_intervals(*score, {base, other, arm("silent", {})}, 200, 5);
  REQUIRE(intervals.size() == 2);
  CHECK_FALSE(intervals[0].difference);
  CHECK(intervals[0].seeds == 3);
  CHECK(intervals[1].sentences == 5);

  const auto bootstrap = [&](const std::vector<SeedPair>& pairs) {
    return hierarchical_bootstrap(*score, pairs, 200, seeded_draw(6, std::ssize(pairs)), seeded_draw(5, 5))
        .interval;
  };
  std::vector<SeedPair> pairs, alone;
  const std::vector<SegmentStatistics> nothing(5, {0, 1});
  for (const auto& [seed, segments] : other.seeds) pairs.push_back({segments, base.seeds.at(seed)});
  for (const auto& [seed, segments] : base.seeds) alone.push_back({segments, nothing});
  REQUIRE(intervals[1].difference);
  CHECK(intervals[1].difference->low == near(bootstrap(pairs).low));
  CHECK(intervals[1].difference->high == near(bootstrap(pairs).high));
  CHECK(intervals[0].score.low == near(bootstrap(alone).low));
  CHECK(intervals[0].score.high == near(bootstrap(alone).high));
  CHECK(intervals[0].score.low < intervals[0].score.high);

  // Seeds of another precision make no pair.
  ScoredArm f32 = base, mixed = other;
  f32.precisions = {{0, "f32"}, {1, "f32"}, {2, "f32"}};
  mixed.precisions = {{0, "bf16"}, {1, "f32"}};
  const auto paired = score_intervals(*score, {f32, mixed}, 200, 5);
  REQUIRE(paired[1].difference);
  CHECK(paired[1].difference->low == near(bootstrap({pairs[1]}).low));
  CHECK(paired[1].difference->high == near(bootstrap({pairs[1]}).high));

  CHECK_THROWS_AS(score_intervals(*score, {base, arm("short", {{1}})}, 5, 1), DataError);
  CHECK_THROWS_AS(score_intervals(*score, {arm("silent", {})}, 5, 1), DataError);
}
