// Runs whose numbers are kept in the repository (experiments/STUDY/results/NAME.json) though their folders
// are gone or on another machine: a study that accumulates takes them as they are and makes only the others.
#pragma once

#include "study/plan.h"
#include "study/results.h"

namespace attnlab {

class KeptRuns {
 public:
  KeptRuns() = default;  // none
  explicit KeptRuns(StudyResults results) : results_(std::move(results)) {}

  // The finished run that is the planned one by content, in whatever precision and of whatever code; null if
  // there is none. Lives as long as this.
  const RunResult* find(const Planner& planner, const PlannedRun& run, const std::string& arm) const;
  // The rate that an arm chose from those that it tries now, in the same trials as far as is known; of an arm
  // that is kept only, the rate that it chose. Null if there is none such.
  const RateChoice* rate_of(const Arm& arm, const std::vector<double>& rates, const RatesSpec& trials) const;
  const Record& environment() const { return results_.environment; }

 private:
  StudyResults results_;
};

}  // namespace attnlab
