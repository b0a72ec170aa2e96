// Whether every metric that a study names is one that its arms will have.
#pragma once

#include "study/plan.h"

namespace attnlab {

// Throws ConfigError for a metric, column or control of the study that nothing produces, or a claim on one.
void check_metrics(const Study& study, const Planner& planner);

}  // namespace attnlab
