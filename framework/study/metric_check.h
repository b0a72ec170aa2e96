// Whether every metric that a study names is one that its arms will have.
#pragma once

#include "study/plan.h"
#include "study/results.h"

namespace attnlab {

// Throws one ConfigError for all metrics, columns and controls of the study that nothing produces, and the
// claims on them.
void check_metrics(const Study& study, const Planner& planner);

// Names of probes' numbers are known once a run has them: a warning for each that the study names and no run
// has, with the names that there are. Nothing before a first run has numbers of that probe.
std::vector<std::string> unknown_probe_metrics(const Study& study, const StudyResults& results);

}  // namespace attnlab
