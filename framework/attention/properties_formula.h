// The kind's own naive twin, put to a problem.
#pragma once

#include "attention/properties_problem.h"

namespace attnlab {

// What reference() gives for sentence b of a core problem, all heads side by side: [T, H*V].
std::vector<double> reference_rows(const Rig& rig, const Problem& problem, Index b);

}  // namespace attnlab
