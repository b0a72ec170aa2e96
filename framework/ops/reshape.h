// Ops that move numbers without changing them: other shapes, other orders, parts and joins. Negative axes
// count from the end.
#pragma once

#include "core/tape.h"

namespace attnlab {

Var reshape(const Var& x, const Shape& shape);            // same count, same order; no copy unless strided
Var permute(const Var& x, const std::vector<int>& axes);  // axis i of the result is axis axes[i] of x; a copy
Var slice(const Var& x, int axis, Index first, Index count);
Var concatenate(const std::vector<Var>& parts,
                int axis);  // at least one; equal but for their size along the axis
std::vector<Var> split(const Var& x, int axis, const std::vector<Index>& sizes);  // the sizes cover the axis

}  // namespace attnlab
