// Numbers below the smallest normal one (1e-38 in f32). Gradients of saturated functions become such, and x86
// multiplies them many times slower than others: a step of a body that diverged took three to five times as
// long as one of a body that learns.
#pragma once

namespace attnlab {

// From here on, this thread and those that it starts compute with zero in their place. Programs that use the
// library call it first thing in main(). Does nothing, and returns false, on processors that have no such
// switch here.
bool flush_denormals_to_zero();

}  // namespace attnlab
