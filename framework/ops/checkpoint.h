// Activation checkpointing (Chen et al. 2016, "Training deep nets with sublinear memory cost") as one
// combinator: of a block only the inputs stay in memory, and backward computes the block again.
#pragma once

#include <functional>

#include "core/tape.h"

namespace attnlab {

using Block = std::function<Var(Tape&, const std::vector<Var>&)>;

// block(inputs) with the same value, the same dropout and, to the bit, the same gradients as without. The
// block must record on the tape it is given, take every Var through `inputs` (at least one) and parameters
// through Tape::leaf, and may run twice. With nothing to differentiate inside, nothing is kept. ShapeError
// where a Var of another tape comes in.
Var checkpoint(const Block& block, const std::vector<Var>& inputs);

}  // namespace attnlab
