// A naive twin in plain loops, the kind's own or another, put to a problem.
#pragma once

#include "attention/properties_problem.h"

namespace attnlab {

// One head of one sentence -> [T, V].
using Formula = std::function<std::vector<double>(const HeadProblem&)>;

// What the formula gives for sentence b of a core problem, all heads side by side: [T, H*V]. ShapeError if it
// gives another count of numbers.
std::vector<double> formula_rows(const Rig& rig, const Problem& problem, Index b, const Formula& formula);
// The same of the kind's reference().
std::vector<double> reference_rows(const Rig& rig, const Problem& problem, Index b);

}  // namespace attnlab
