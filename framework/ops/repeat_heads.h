// Several query heads that share one key and value head (Ainslie et al. 2023, section 2.2): the shared heads
// written out.
#pragma once

#include "core/tape.h"

namespace attnlab {

// x [N, heads*K] -> [N, heads*times*K], where heads h*times … (h+1)*times - 1 are copies of head h. Throws
// ShapeError.
Var repeat_heads(const Var& x, Index heads, Index times);

}  // namespace attnlab
