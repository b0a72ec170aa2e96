#include "study/cost.h"

#include <cmath>

#include "study/scored_arm.h"
#include "study/small_experiment.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

PlannedRun planned(std::size_t arm, bool trial, double cost) {
  PlannedRun run;
  run.arm = arm;
  run.trial = trial;
  run.config = kSmallExperiment;
  run.cost = cost;
  return run;
}

}  // namespace

TEST_CASE("controls that are computed from the data do not count for the usual spread") {
  StudyResults results;
  results.metric = "score";
  results.arms = {scored_arm("base", {1, 2, 4}), scored_arm("near", {2, 4, 7}),
                  scored_arm("majority", {0, 0, 0}), scored_arm("by_position", {9, 9, 9})};
  CHECK(usual_spread(results, {"majority", "by_position"}) == Approx(1));  // of the differences 1, 2, 3
  CHECK(usual_spread(results, {}) == Approx(1.5275252));                   // that of the baseline itself
  results.arms.erase(results.arms.begin() + 1);
  CHECK(std::isnan(usual_spread(results, {"majority", "by_position"})));
}

TEST_CASE("an arm chooses among rates of its own where the study chooses, and not where it does not") {
  const auto rates = [](const std::string& common, bool untrained = false) {
    const Study study =
        read_study(Tree::parse(kSmallExperiment + "study:\n  name: tried\n  rates: {values: " + common +
                                   "}\n  arms: {base: {}, own: {rates: [3, 4, 5]" +
                                   (untrained ? ", untrained: true" : "") + "}}\n",
                               "s.yaml"),
                   false);
    const ScratchFolder root;
    const Planner planner(study, root.path());
    return std::pair(planner.rates(0), planner.rates(1));
  };
  using Rates = std::vector<double>;
  CHECK(rates("[1, 2]") == std::pair(Rates{1, 2}, Rates{3, 4, 5}));
  CHECK(rates("[]") == std::pair(Rates{}, Rates{}));
  CHECK(rates("[1, 2]", true).second.empty());
}

TEST_CASE("runs that wait for the choice of a rate are awaited, one for each seed") {
  const JobOptions options;
  std::list<Job> jobs;
  jobs.emplace_back(planned(0, false, 7), options);
  for (int trial = 0; trial < 2; ++trial) jobs.emplace_back(planned(1, true, 10), options);
  std::vector<std::optional<RateChoice>> choices(2);
  const AwaitedRuns awaited = awaited_runs(jobs, choices, 3);
  CHECK(awaited.count == 3);
  CHECK(awaited.cost == 30);
  CHECK(cost_ahead(jobs, awaited) == 7 + 2 * 10 + 30);
  choices[1] = RateChoice{};
  CHECK(awaited_runs(jobs, choices, 3).count == 0);
  CHECK(awaited_runs(jobs, choices, 3).cost == 0);
}

TEST_CASE("an arm of one step does not train, whether it is called untrained or not") {
  const ScratchFolder root;
  const Study study = read_study(Tree::parse(kSmallExperiment + R"(
study:
  name: tried
  arms:
    full: {train: {max_steps: 2}}
    epochs: {}
    raw: {untrained: true}
    single: {train: {max_steps: 1}}
)",
                                             "s.yaml"),
                                 false);
  const Planner planner(study, root.path());
  std::vector<bool> trains;
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm)
    trains.push_back(planner.run(arm, 1, {}, false).trains);
  CHECK(trains == std::vector<bool>{true, true, false, false});
}
