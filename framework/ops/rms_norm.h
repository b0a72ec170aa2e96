// Normalisation of rows by their root mean square.
#pragma once

#include "core/tape.h"

namespace attnlab {

// Zhang and Sennrich 2019, equation 4: y = x / sqrt(mean(x^2) + epsilon) * gain + bias over the last axis. x
// [N, D]; `gain` and `bias` [D] or empty Vars. Throws ShapeError.
Var rms_norm(const Var& x, const Var& gain, const Var& bias, double epsilon);

}  // namespace attnlab
