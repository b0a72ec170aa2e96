// Sums, means and largest values along one axis (which stays, with size 1), and running sums. Negative axes
// count from the end. Sums are taken in f32 (f64 for f64) in an order that depends on the place along the
// axis alone, so that zeros appended to it change no bit.
#pragma once

#include "core/tape.h"

namespace attnlab {

Var sum(const Var& x, int axis);
Var mean(const Var& x, int axis);
Var max(const Var& x, int axis);             // the gradient goes to the first of equal ones; axis not empty
Var cumulative_sum(const Var& x, int axis);  // y_i = x_0 + … + x_i, the shape of x

}  // namespace attnlab
