#include "study/expectation.h"

#include <cmath>

#include "config/spec.h"
#include "study/record_results.h"
#include "study/scored_arm.h"
#include "study/sweep.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

constexpr auto arm = scored_arm;

StudyResults results_of(std::vector<ArmResult> arms) {
  StudyResults results;
  results.metric = "score";
  results.baseline = "base";
  for (std::size_t i = 0; i < arms[0].runs.size(); ++i)
    results.seeds.push_back(static_cast<std::int64_t>(i + 1));
  results.arms = std::move(arms);
  return results;
}

struct Choice {
  std::shared_ptr<ExpectationSpec> spec;
  void fields(Fields& f) { f.kind("expect", spec, "an expectation"); }
};

std::vector<ClaimVerdict> verdicts_on(const StudyResults& results, const std::vector<std::string>& yaml) {
  std::vector<Claim> claims;
  for (const std::string& text : yaml) {
    Choice choice;
    read_spec(Tree::parse("expect: " + text), choice);
    claims.push_back({"claim", choice.spec, "", {}});
  }
  return judge(claims, results);
}

Decision decision(const StudyResults& results, const std::string& yaml) {
  return verdicts_on(results, {yaml})[0].decision;
}

constexpr Decision kYes = Decision::reproduced, kNo = Decision::not_reproduced, kOpen = Decision::undecidable;

const StudyResults kThree =
    results_of({arm("base", {36.4, 35.2, 33.4}), arm("bad", {14.5, 10.8, 12.5}),
                arm("same", {36.3, 35.3, 33.5}), arm("noisy", {50.0, 20.0, 36.0}), arm("gone", {})});

}  // namespace

TEST_CASE("a band holds, fails, or is open where the spread is too large") {
  CHECK(decision(kThree, "{kind: band, arm: base, at_least: 20}") == kYes);
  CHECK(decision(kThree, "{kind: band, arm: base, at_least: 40}") == kNo);
  CHECK(decision(kThree, "{kind: band, arm: noisy, at_least: 34}") == kOpen);
  CHECK(decision(kThree, "{kind: band, arm: noisy, at_least: 25, every_seed: true}") == kOpen);
  CHECK(decision(kThree, "{kind: band, arm: noisy, at_least: 19, every_seed: true}") == kYes);
  CHECK(decision(kThree, "{kind: band, arm: gone, at_least: 0}") == kOpen);
}

TEST_CASE("differences and factors are paired by seed") {
  CHECK(decision(kThree, "{kind: difference, arm: bad, at_most: -15}") == kYes);
  CHECK(decision(kThree, "{kind: difference, arm: bad, at_most: -30}") == kNo);
  CHECK(decision(kThree, "{kind: difference, arm: base, to: bad, at_least: 15}") == kYes);
  CHECK(decision(kThree, "{kind: factor, arm: bad, at_most: 0.6}") == kYes);
  CHECK(decision(kThree, "{kind: factor, arm: bad, at_least: 0.9}") == kNo);
  CHECK(decision(kThree, "{kind: difference, arm: gone, at_most: 0}") == kOpen);
}

TEST_CASE("an order must hold more often than chance; a sign test needs enough seeds") {
  CHECK(decision(kThree, "{kind: order, arms: [bad, base]}") == kOpen);  // p = 1/8
  CHECK(decision(kThree, "{kind: order, arms: [bad, base], alpha: 0.2}") == kYes);
  CHECK(decision(kThree, "{kind: order, arms: [base, bad]}") == kNo);
  CHECK(decision(kThree, "{kind: order, arms: [base, noisy], alpha: 0.2}") == kOpen);
  CHECK(verdicts_on(kThree, {"{kind: order, arms: [bad, base, noisy]}"})[0].p_value ==
        Approx(1 - std::pow(5.0 / 6, 3) - 3 * std::pow(5.0 / 6, 2) / 6));  // in two of three seeds
  CHECK(decision(kThree, "{kind: sign_test, arm: bad, direction: below}") == kOpen);
  const StudyResults five =
      results_of({arm("base", {1, 2, 3, 4, 5}), arm("more", {2, 3, 4, 5, 6}), arm("mixed", {2, 1, 4, 3, 6})});
  CHECK(decision(five, "{kind: sign_test, arm: more}") == kYes);
  CHECK(decision(five, "{kind: sign_test, arm: more, direction: below}") == kNo);
  CHECK(decision(five, "{kind: sign_test, arm: mixed}") == kOpen);
  CHECK(decision(five, "{kind: sign_test, arm: mixed, direction: below}") == kNo);
}

TEST_CASE("likeness is shown by two tests within a margin, not by a large p") {
  CHECK(decision(kThree, "{kind: equivalence, arm: same, margin: 0.5}") == kYes);
  CHECK(decision(kThree, "{kind: equivalence, arm: bad, margin: 0.5}") == kNo);
  CHECK(decision(kThree, "{kind: equivalence, arm: noisy, margin: 2}") == kOpen);
  const StudyResults one = results_of({arm("base", {1}), arm("same", {1})});
  CHECK(decision(one, "{kind: equivalence, arm: same, margin: 0.5}") == kOpen);
  CHECK(verdicts_on(one, {"{kind: band, arm: base, at_least: 0}"})[0].seeds == 1);
}

TEST_CASE("a slope is that of each seed's curve") {
  StudyResults results = results_of({arm("n-1", {1, 2}), arm("n-2", {8, 16.2}), arm("n-4", {64, 127})});
  for (std::size_t i = 0; i < 3; ++i) results.arms[i].point = {{"model.layers", std::to_string(1 << i)}};
  CHECK(decision(results,
                 "{kind: slope, arms: [n-1, n-2, n-4], over: model.layers, at_least: 2.5, at_most: 3.5}") ==
        kYes);
  CHECK(decision(results, "{kind: slope, arms: [n-1, n-2, n-4], over: model.layers, at_least: 3.5}") == kNo);
}

TEST_CASE("many claims are corrected together") {
  const StudyResults results = results_of({arm("base", {1, 2, 3, 4, 5}), arm("more", {2, 3, 4, 5, 6})});
  const std::string claim = "{kind: sign_test, arm: more}";  // p = 1/32
  CHECK(verdicts_on(results, {claim})[0].decision == kYes);
  for (const ClaimVerdict& verdict : verdicts_on(results, {claim, claim})) {
    CHECK(verdict.p_value == Approx(1.0 / 32));
    CHECK(verdict.corrected_p == Approx(1.0 / 16));
    CHECK(verdict.decision == kOpen);
  }
}

TEST_CASE("which claims are corrected together does not depend on their outcome") {
  const StudyResults results = results_of({arm("base", {0, 0, 0, 0, 0}), arm("more", {2, 3, 4, 5, 6})});
  const std::string holds = "{kind: sign_test, arm: more}";  // p = 1/32
  for (const char* refuted :
       {"{kind: difference, arm: more, at_most: 3}", "{kind: band, arm: more, at_least: 5}",
        "{kind: equivalence, arm: more, margin: 1}"}) {
    const auto verdicts = verdicts_on(results, {holds, refuted});
    CHECK(verdicts[1].decision == kNo);
    CHECK(verdicts[1].p_value > 0.5);
    CHECK(verdicts[0].corrected_p == Approx(1.0 / 16));
  }
  // Nor does what cannot be tested count as a test.
  const StudyResults gone =
      results_of({arm("base", {1, 2, 3, 4, 5}), arm("more", {2, 3, 4, 5, 6}), arm("gone", {})});
  const auto verdicts = verdicts_on(gone, {holds, "{kind: sign_test, arm: gone}"});
  CHECK(std::isnan(verdicts[1].p_value));
  CHECK(verdicts[1].decision == kOpen);
  CHECK(verdicts[0].decision == kYes);
}

TEST_CASE("values that do not vary are taken as they are, without a test") {
  const StudyResults results =
      results_of({arm("base", {1, 1, 1}), arm("same", {1, 1, 1}), arm("less", {0, 0, 0})});
  for (const char* claim :
       {"{kind: band, arm: base, at_least: 1}", "{kind: difference, arm: less, at_most: -1}",
        "{kind: equivalence, arm: same, margin: 0.1}"}) {
    const ClaimVerdict verdict = verdicts_on(results, {claim})[0];
    CHECK(verdict.decision == kYes);
    CHECK(std::isnan(verdict.p_value));
  }
  CHECK(decision(results, "{kind: equivalence, arm: less, margin: 0.1}") == kNo);
}

TEST_CASE("claims about several arms look at the seeds that all have in one precision") {
  StudyResults results = results_of({arm("a", {0.5, 0.5, 0.9}), arm("b", {0.6, 0.6, 0.6})});
  results.arms[1].runs[2].status = "failed";
  const std::string order = "{kind: order, arms: [a, b], alpha: 0.3}";
  CHECK(verdicts_on(results, {order})[0].seeds == 2);
  CHECK(decision(results, order) == kYes);
  results.arms[0].runs[0].precision = "bf16";
  results.arms[1].runs[0].precision = "f32";
  CHECK(verdicts_on(results, {order})[0].seeds == 1);
  for (std::size_t i = 0; i < 2; ++i) results.arms[i].point = {{"model.layers", std::to_string(i + 1)}};
  CHECK(verdicts_on(results, {"{kind: slope, arms: [a, b], over: model.layers, at_least: 0}"})[0].seeds == 1);
}

TEST_CASE("a seed without a slope is left out, and said to be") {
  StudyResults results = results_of({arm("n-1", {1, 1, 1}), arm("n-2", {2, 0, 2.2})});
  for (std::size_t i = 0; i < 2; ++i) results.arms[i].point = {{"model.layers", std::to_string(i + 1)}};
  const auto verdict =
      verdicts_on(results, {"{kind: slope, arms: [n-1, n-2], over: model.layers, at_least: 0.5}"})[0];
  CHECK(verdict.decision == kYes);
  CHECK(verdict.seeds == 2);
  CHECK(verdict.figures.find("1 seeds have no slope") != std::string::npos);
}

TEST_CASE("a best rate at the edge of those tried decides nothing") {
  StudyResults results = kThree;
  results.arms[1].rate =
      choose_rate(std::vector<double>{1, 2, 3}, std::vector<double>{0.3, 0.2, 0.1}, false, 0);
  CHECK(results.arms[1].rate->at_edge);
  CHECK(decision(results, "{kind: difference, arm: bad, at_most: -15}") == kOpen);
  // Unless all rates are as good, so that the best one is there by chance.
  results.arms[1].rate =
      choose_rate(std::vector<double>{1, 2, 3}, std::vector<double>{0.1001, 0.1001, 0.1}, false, 0);
  CHECK(results.arms[1].rate->at_edge);
  CHECK(decision(results, "{kind: difference, arm: bad, at_most: -15}") == kYes);
  results.arms[1].rate =
      choose_rate(std::vector<double>{1, 2, 3}, std::vector<double>{0.3, 0.1, 0.2}, false, 0);
  CHECK(decision(results, "{kind: difference, arm: bad, at_most: -15}") == kYes);
}

TEST_CASE("the best rate, its basin, and rates that failed") {
  const double nan = std::nan("");
  const std::vector<double> rates{1e-3, 3e-3, 1e-2, 3e-2};
  const RateChoice choice = choose_rate(rates, std::vector<double>{2.01, 2.0, 2.5, nan}, false, 0.02);
  CHECK(choice.chosen == 3e-3);
  CHECK_FALSE(choice.at_edge);
  CHECK(choice.basin_share == Approx(0.5));
  CHECK(choose_rate(rates, std::vector<double>{30, 31, 35, nan}, true, 0).chosen == 1e-2);
  CHECK(choose_rate(rates, std::vector<double>{nan, nan, nan, nan}, true, 0).chosen == 0);
  CHECK_FALSE(choose_rate(std::vector<double>{1e-3}, std::vector<double>{1}, true, 0).at_edge);
}

TEST_CASE("results survive their file, and fill tables") {
  StudyResults results = kThree;
  results.name = "tried";
  results.arms[1].published = 8.1;
  results.arms[1].note = "a | b & c_d";
  results.verdicts = verdicts_on(results, {"{kind: difference, arm: bad, at_most: -15}"});
  const StudyResults again = parse_results(results_json(results), "test");
  CHECK(results_json(again) == results_json(results));
  CHECK(results_table(again) == results_table(results));
  CHECK(results_markdown(results).find("a \\| b") != std::string::npos);
  CHECK(results_latex(results).find("a | b \\& c\\_d") != std::string::npos);
  const std::string csv = results_csv(results);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 4 * 3);
  CHECK_THROWS_AS(parse_results("{}", "test"), IoError);
  CHECK_THROWS_AS(parse_results("nothing", "test"), IoError);
}

TEST_CASE("tables stand between markers, and what is around them stays") {
  const std::string first = with_results("# Title\n", "x", "old\n");
  CHECK(first == "# Title\n\n<!-- results x -->\nold\n<!-- end of results x -->\n");
  const std::string more = first + "\nwords\n";
  CHECK(with_results(more, "x", "new\n") ==
        "# Title\n\n<!-- results x -->\nnew\n<!-- end of results x -->\n\nwords\n");
  CHECK(experiment_folder("experiments", "configs/transformer/ablation.yaml") == "experiments/transformer");
  CHECK(experiment_folder("experiments", "configs/ablation.yaml") == "experiments/ablation");
}
