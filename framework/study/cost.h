// What a study will cost on this machine, from runs that have been made or from one step of training.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>

#include "study/job.h"

namespace attnlab {

// "2 min 05 s".
std::string duration_text(double seconds);

// Seconds for one unit of PlannedRun::cost: from results that are there, else by a dry run of the first
// waiting job. Nothing if neither gives a figure; `from` says what it rests on.
struct Speed {
  double seconds_per_cost = 0;
  std::string from;
};
std::optional<Speed> speed_of(const std::list<Job>& jobs, const JobOptions& options);

// Seconds of work ahead, from the speed of the runs made so far; 0 if there are none.
double seconds_left(const std::list<Job>& jobs);

// The median over arms of the sd of differences from their baselines; NaN where there are no pairs yet.
double usual_spread(const StudyResults& results);

// The smallest difference that n paired seeds would show, in words; `sd` is that of paired differences, NaN
// if unknown.
std::string detectable_text(Index seeds, double sd, const std::string& metric);

}  // namespace attnlab
