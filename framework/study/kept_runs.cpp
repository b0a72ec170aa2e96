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

const RateChoice* KeptRuns::rate_of(const std::string& arm, const std::vector<double>& rates) const {
  const ArmResult* kept = results_.find(arm);
  return kept && kept->rate && kept->rate->rates == rates && kept->rate->chosen != 0 ? &*kept->rate : nullptr;
}

}  // namespace attnlab
