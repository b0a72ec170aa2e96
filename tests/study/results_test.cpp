#include "study/results.h"

#include <algorithm>
#include <cmath>

#include "study/record_results.h"
#include "study/results_table.h"
#include "study/scored_arm.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

StudyResults study_of(const std::vector<ArmResult>& arms, std::vector<std::int64_t> seeds) {
  StudyResults results;
  results.name = "toy";
  results.metric = "score";
  results.baseline = "base";
  results.seeds = std::move(seeds);
  results.arms = arms;
  return results;
}

}  // namespace

TEST_CASE("runs of one seed pair where they were computed in one precision, or it is not known") {
  const ArmResult base = scored_arm("base", {1, 2, 4});
  ArmResult arm = scored_arm("arm", {2, 4, 7});
  arm.runs[0].precision = "bf16";
  arm.runs[1].precision = "";
  CHECK(compare(arm, base, "score").differences == std::vector<double>{2, 3});
  const StudyResults results = study_of({base, arm}, {1, 2, 3});
  CHECK(precisions_of(results) == std::vector<std::string>{"bf16", "f32"});
  CHECK(arm_rows(results)[1].back() == "in f32");
  CHECK(arm_rows(results)[2].back() == "seed 1 in bf16, 3 in f32");
}

TEST_CASE("results of several machines say what was made on which") {
  StudyResults results = study_of({scored_arm("base", {1, 2}), scored_arm("arm", {2, 4})}, {1, 2});
  results.environment.set("cpu", std::string("the judging one"));
  CHECK(results_markdown(results).find("hours of runs on the judging one, ") != std::string::npos);
  for (ArmResult& arm : results.arms) arm.runs[0].cpu = arm.runs[1].cpu = "A";
  CHECK(results_markdown(results).find("hours of runs on A, ") != std::string::npos);
  CHECK(arm_rows(results)[0].back() != "notes");
  results.arms[1].runs[1].cpu = "B";
  const StudyResults read = parse_results(results_json(results), "results.json");
  CHECK(results_markdown(read).find("hours of runs on A and B, ") != std::string::npos);
  CHECK(arm_rows(read)[1].back() == "on A");
  CHECK(arm_rows(read)[2].back() == "seed 1 on A, 2 on B");
}

TEST_CASE("a comparison has its standard error, and a p-value where differences vary") {
  const ArmResult base = scored_arm("base", {1, 2, 4});
  const Comparison varied = compare(scored_arm("arm", {2, 4, 7}), base, "score");
  CHECK(varied.sd == Approx(1));
  CHECK(varied.sem == Approx(1 / std::sqrt(3)));
  CHECK(varied.t_test == Approx(0.0741799));  // scipy.stats.ttest_1samp([1, 2, 3], 0)
  CHECK(std::isnan(
      compare(scored_arm("same", {0.7, 0.7, 0.7}), scored_arm("base", {0.1, 0.1, 0.1}), "score").t_test));
  CHECK(std::isnan(compare(scored_arm("one", {2}), base, "score").t_test));
}

TEST_CASE("what is the same for all runs and claims is said once") {
  StudyResults results = study_of({scored_arm("base", {1, 2}), scored_arm("arm", {1, 3})}, {1, 2});
  for (ArmResult& arm : results.arms)
    for (RunResult& run : arm.runs) run.code = "c", run.stale = true;
  CHECK(table_title(results).ends_with("; all runs made by other code than judged them"));
  CHECK(arm_rows(results)[0].back() != "notes");
  results.arms[1].runs[0].stale = false;
  CHECK(arm_rows(results)[1].back() == "2 of other code");
  CHECK(arm_rows(results)[2].back() == "1 of other code");

  ClaimVerdict plain, changed;
  plain.p_value = changed.p_value = NAN;
  plain.set = "before the run";
  changed.set = plain.set + kJudgingChanged;
  CHECK(verdict_rows({plain, changed})[1][2] == "; set before the run");
  CHECK(verdict_rows({plain, changed})[2][2] == "; set before the run †");
  CHECK(verdict_footnote({plain}).empty());
  CHECK(verdict_footnote({plain, changed}).starts_with("† The code that judges this claim"));
}

TEST_CASE("a column that the study names stays without values, and a p-value is said once") {
  StudyResults results = study_of({scored_arm("base", {1, 2})}, {1, 2});
  results.columns = {"later"};
  const TableRow head = arm_rows(results)[0];
  CHECK(std::count(head.begin(), head.end(), "later") == 1);
  CHECK(results_csv(results).starts_with(
      "study,arm,seed,status,control,rate,parameters,published,score\ntoy,base,1,done,false,,"));
  ClaimVerdict verdict;
  verdict.figures = "sign test p = 0.5";
  verdict.p_value = verdict.corrected_p = 0.5;
  CHECK(verdict_rows({verdict})[1][2] == "sign test p = 0.5, corrected 0.5");
}

TEST_CASE("kept results give way to those that hold no less, or are complete") {
  const StudyResults two = study_of({scored_arm("base", {1, 2})}, {1, 2}),
                     three = study_of({scored_arm("base", {1, 2, 3})}, {1, 2, 3}), none = study_of({}, {1});
  const StudyResults other = study_of({scored_arm("other", {1, 2, 3})}, {1, 2, 3});
  CHECK_FALSE(worth_keeping(other, StudyEnd::partial, two));  // more runs, but of another arm
  StudyResults poorer = two;
  poorer.arms[0].runs[1].values = {};
  for (const StudyEnd end : {StudyEnd::complete, StudyEnd::partial, StudyEnd::interrupted}) {
    CHECK(worth_keeping(three, end, two));
    CHECK(worth_keeping(two, end, none));
    CHECK_FALSE(worth_keeping(none, end, two));  // all runs failed
    CHECK(worth_keeping(two, end, three) == (end == StudyEnd::complete));
    CHECK(worth_keeping(poorer, end, two) == (end == StudyEnd::complete));
    CHECK(worth_keeping(two, end, two) == (end != StudyEnd::interrupted));
  }
}

TEST_CASE("the title says how many seeds there are of those that are meant") {
  const auto title = [](std::size_t made, std::vector<std::int64_t> meant) {
    return table_title(study_of({scored_arm("base", std::vector<double>(made, 1.5))}, std::move(meant)));
  };
  CHECK(title(1, {1}) == "toy: score, a single seed: no spread is known; compared with 'base'");
  CHECK(title(1, {1, 2}) ==
        "toy: score, a single seed of 2 so far: no spread is known; compared with 'base'");
  CHECK(title(2, {1, 2, 3}) ==
        "toy: score, mean over 2 of 3 seeds, differences paired by seed; compared with 'base'");
  CHECK(title(3, {1, 2, 3}) ==
        "toy: score, mean over 3 seeds, differences paired by seed; compared with 'base'");
}
