// Long short-term memory along the rows of each sentence (Hochreiter and Schmidhuber 1997; with the forget
// gate of Gers et al. 2000), as one op with a backward through time.
#pragma once

#include "core/sequences.h"
#include "core/tape.h"

namespace attnlab {

// What is carried from row to row of each sentence.
struct LstmState {
  Tensor hidden;  // [B, H], of the type of the rows
  Tensor cell;    // [B, H], in f32 (f64 for f64)
};

// `gates` [N, 4H]: what the input contributes to the gates, with their bias, side by side as input, forget,
// cell, output; `recurrent` [4H, H]. For each row t of a sentence, from h = c = 0:
//   i, f, o = sigmoid, g = tanh of (gates_t + recurrent h),  c = f c + i g,  h = o tanh(c)
// Returns every h, [N, H]. With `state` (outside training) sentences go on from it, and it is brought up to
// date. Throws ShapeError.
Var lstm(const Var& gates, const Var& recurrent, const Sequences& rows, LstmState* state = nullptr);

}  // namespace attnlab
