// Clipping of gradients by their global norm.
#pragma once

#include "core/tensor.h"

namespace attnlab {

// The Euclidean norm of all numbers, summed in f64 over a fixed tree: the same bits at any thread count.
// Infinite or NaN if a number is.
double global_norm(const Tensor& numbers);

// What to multiply gradients of this norm by so that it becomes `limit` at most; 1 without a limit (0).
double clip_scale(double norm, double limit);

}  // namespace attnlab
