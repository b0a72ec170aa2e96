// The activations of the MLPs: a closed set, as one op.
#pragma once

#include "core/tape.h"

namespace attnlab {

enum class Activation : std::uint8_t {
  relu,       // max(x, 0)
  gelu,       // x P(X <= x) for a standard normal X, exact (Hendrycks and Gimpel 2016)
  gelu_tanh,  // its approximation by tanh, as GPT-2 has it
  silu,       // x sigmoid(x)
};

// The activation of every element; any shape. ReLU keeps its result for backward, the others their input.
Var activate(const Var& x, Activation activation);

Var relu(const Var& x);
Var gelu(const Var& x);
Var gelu_tanh(const Var& x);
Var silu(const Var& x);

}  // namespace attnlab
