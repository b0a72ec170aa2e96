// From the runs of a study, as far as they have got, to its results.
#pragma once

#include <list>

#include "study/expectation_record.h"
#include "study/kept_runs.h"
#include "study/probe_job.h"

namespace attnlab {

struct StudyState {
  const Study& study;
  const Planner& planner;
  const std::list<Job>& jobs;
  const std::list<ProbeJob>& probes;
  const std::vector<std::optional<RateChoice>>& choices;  // by arm
  const std::vector<std::int64_t>& seeds;                 // of which runs are made
  std::string metric;
  const ExpectationRecord& record;
  const KeptRuns& kept;
  bool final = false;  // all has ended that will: judge what is costly to judge, too
};
StudyResults collect_results(const StudyState& state);

}  // namespace attnlab
