// From ragged token rows to a dense tensor with the heads apart, and back. Values are copied to the bit.
#pragma once

#include "core/sequences.h"
#include "core/tape.h"

namespace attnlab {

// rows [N, H K] -> [B, H, T, K], T the longest length; places past a sentence's end are zero. The rows may be
// a column view. ShapeError unless the rows match the sequences and `heads` divides the columns.
Var pad(const Var& rows, const Sequences& sequences, Index heads);

// [B, H, T, K] -> rows [N, H K]; what stands past a sentence's end is not read, rows of no sentence are zero.
Var unpad(const Var& dense, const Sequences& sequences);

// [B, 1, T, 1]: one where sentence b has a token t, else zero. T is the longest length.
Tensor token_mask(const Sequences& sequences, DType type);

}  // namespace attnlab
