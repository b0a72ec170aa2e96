// Rows of a table by index: token embeddings and learned positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tape.h"

namespace attnlab {

// y [N, D] = scale * table[ids[n]]. `table` [V, D]. Throws ShapeError for an id outside [0, V). The gradient
// adds the rows of one id in the order of their place in the batch.
Var embedding(const Var& table, const std::vector<std::int32_t>& ids, double scale);

}  // namespace attnlab
