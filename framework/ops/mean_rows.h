// The mean of the rows of each sentence.
#pragma once

#include "core/sequences.h"
#include "core/tape.h"

namespace attnlab {

// x [N, D] -> [B, D]; a sentence without rows gives zeros. Throws ShapeError if `rows` does not fit x.
Var mean_rows(const Var& x, const Sequences& rows);

}  // namespace attnlab
