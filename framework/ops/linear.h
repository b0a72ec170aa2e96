// Affine maps of rows. Weights are stored as [out, in], one row per output, as in PyTorch and its
// checkpoints.
#pragma once

#include "core/tape.h"

namespace attnlab {

// y [N, out] = x [N, in] weight^T + bias. `weight` [out, in], `bias` [out] or an empty Var. Throws
// ShapeError.
Var linear(const Var& x, const Var& weight, const Var& bias = {});

// Several maps of the same rows as one product where their weights lie next to each other (see
// ParameterSet::begin_group). Returns one Var per weight; they are column blocks of one matrix. `biases` is
// empty or has one entry per weight.
std::vector<Var> linear_group(const Var& x, const std::vector<Var>& weights,
                              const std::vector<Var>& biases = {});

}  // namespace attnlab
