// Multiplies each head's columns by its gate. Head masking, importance (the gate's gradient; Michel et al.
// 2019, section 3.1) and pruning all use it.
#pragma once

#include "core/tape.h"

namespace attnlab {

// x [N, H*K], gates [H] -> [N, H*K]. Throws ShapeError.
Var gate_heads(const Var& x, const Var& gates);

}  // namespace attnlab
