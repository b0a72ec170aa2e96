#include "study/kept_runs.h"

namespace attnlab {

const RunResult* KeptRuns::find(const Planner& planner, const PlannedRun& run, const std::string& arm) const {
  const ArmResult* kept = results_.find(arm);
  const RunResult* found = kept ? kept->find(run.seed) : nullptr;
  if (found == nullptr || found->content.empty() || !found->error.empty()) return nullptr;
  if (!found->finished()) return nullptr;
  const bool same = found->precision == run.precision
                        ? found->content == run.content
                        : found->content == planner.content_of(run, found->precision);
  return same ? found : nullptr;
}

const RateChoice* KeptRuns::rate_of(const Arm& arm, const std::vector<double>& rates,
                                    const RatesSpec& trials) const {
  const ArmResult* kept = results_.find(arm.name);
  if (kept == nullptr || !kept->rate || kept->rate->chosen == 0) return nullptr;
  const RateChoice& choice = *kept->rate;
  if (arm.kept_only) return &choice;
  const bool same_trials =
      choice.chosen_by.empty() || (choice.chosen_by == trials.choose_by && choice.seeds == trials.seeds);
  return same_trials && choice.rates == rates ? &choice : nullptr;
}

}  // namespace attnlab
