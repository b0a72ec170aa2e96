// Matrix products of dense tensors, the core of attention written from composed ops.
#pragma once

#include "core/tape.h"

namespace attnlab {

// [..., M, K] x [..., K, N] -> [..., M, N], each operand transposed in its last two axes where said: a is
// then stored as [..., K, M], b as [..., N, K]. Leading axes broadcast where one is 1 or missing. In f64 each
// sum runs in the order of k, so that zeros appended along K, or other batch items, change no bit.
Var batched_matmul(const Var& a, const Var& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace attnlab
