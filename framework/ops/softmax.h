// Softmax over the last axis, plain and under a mask.
#pragma once

#include "core/mask.h"
#include "core/tape.h"

namespace attnlab {

// softmax(x) over the last axis, any shape.
Var softmax(const Var& x);

// [B, H, T, S] -> [B, H, T, S]: softmax over the keys that query t of sentence b may see. Weights elsewhere
// are exactly 0, whatever the logits hold there; a query with nothing to see, and one past its sentence's
// end, gives zeros and no gradient.
Var masked_softmax(const Var& logits, const Mask& mask);

// [B, H, T, S] -> [B, H, T, S]: zero where query t of sentence b may not see key s, else unchanged.
Var apply_mask(const Var& x, const Mask& mask);

}  // namespace attnlab
