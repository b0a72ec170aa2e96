// Which of the learning rates that an arm tried it keeps.
#pragma once

#include <span>

#include "study/results.h"

namespace attnlab {

// `scores` holds the mean validation score of each rate, in the order of `rates`; NaN where a run failed.
// `within` is the distance from the best that still counts as good (0: 1 % of the best). `chosen` is 0 if all
// failed.
RateChoice choose_rate(std::span<const double> rates, std::span<const double> scores, bool higher,
                       double within);

}  // namespace attnlab
