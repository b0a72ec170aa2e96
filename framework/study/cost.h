// What a study will cost on this machine, from runs that have been made or from one step of training.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "study/job.h"

namespace attnlab {

// "2 min 05 s".
std::string duration_text(double seconds);

// Reported runs that are meant, but are no jobs until the rate of their arm is chosen.
struct AwaitedRuns {
  Index count = 0;
  double cost = 0;
};
// Of each arm that has trials and no choice yet there will be one for each of so many seeds. `choices`: by
// arm.
AwaitedRuns awaited_runs(const std::list<Job>& jobs, const std::vector<std::optional<RateChoice>>& choices,
                         Index seeds);

// Cost of all runs to be made: jobs that wait, and those awaited.
double cost_ahead(const std::list<Job>& jobs, const AwaitedRuns& awaited);

// Seconds for one unit of PlannedRun::cost: from results that are there of runs that train, else by a dry run
// of the costliest waiting job, if there is one, of those that train. Nothing if neither gives a figure;
// `from` says what it rests on.
struct Speed {
  double seconds_per_cost = 0;
  std::string from;
};
std::optional<Speed> speed_of(const std::list<Job>& jobs, const JobOptions& options);

// Seconds of work ahead, from the speed of the runs made so far; 0 if none of them trains.
double seconds_left(const std::list<Job>& jobs, const AwaitedRuns& awaited);

// The median over arms of the sd of differences from their baselines; NaN where there are no pairs yet.
// `controls` names arms that are computed from the data: they have no spread of their own and do not count.
double usual_spread(const StudyResults& results, const std::vector<std::string>& controls);

// The smallest difference that n paired seeds would show, in words; `sd` is that of paired differences, NaN
// if unknown.
std::string detectable_text(Index seeds, double sd, const std::string& metric);

}  // namespace attnlab
