// The order of columns in which rotary positions pair them (ops/rotate.h), as an order of weights.
#pragma once

#include <string>

#include "core/tensor.h"
#include "models/spec.h"

namespace attnlab {

// Whether published models, which all pair column i of a head with i + K / 2, need this parameter of ours in
// another order: queries and keys of a model that pairs 2i with 2i + 1.
bool pairs_neighbours(const PositionSpec& positions, const std::string& parameter);

// Weights [heads * K, D] or biases [heads * K] of such queries or keys in the order of halves: with it the
// logits are the same.
Tensor neighbours_to_halves(const Tensor& rows, Index key_width);

}  // namespace attnlab
