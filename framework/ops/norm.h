// Normalisation of rows.
#pragma once

#include "core/tape.h"

namespace attnlab {

// Layer normalisation over the last axis (Ba et al. 2016): y = (x - mean) / sqrt(variance + epsilon) * gain +
// bias. x [N, D]; `gain` and `bias` [D] or empty Vars. Throws ShapeError.
Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon);

}  // namespace attnlab
