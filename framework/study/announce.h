// What a study says of its runs before they start.
#pragma once

#include <list>

#include "study/job.h"
#include "study/study.h"

namespace attnlab {

// Logs how many runs there are, those included that are `awaited` until rates are chosen; how many of them
// are made already, which come first of all, which claims are not judged, and what is of other code.
void announce(const Study& study, const Planner& planner, Index seeds, const std::list<Job>& jobs,
              Index awaited);

}  // namespace attnlab
