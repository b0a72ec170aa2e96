// Dropout of attention weights in dense form, for kinds written from composed ops.
#pragma once

#include "core/sequences.h"
#include "ops/dropout.h"

namespace attnlab {

// weights [B, H, T, S], with elements dropped and the others scaled by 1 / (1 - rate); unchanged outside
// training. A draw depends on the query's row in the accumulation window, the head and the key alone, and is
// the one that attend() makes there. ShapeError if the sequences do not fit.
Var dropout_weights(const Var& weights, const Sequences& queries, const Dropout& options);

}  // namespace attnlab
