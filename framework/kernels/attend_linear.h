// Linear attention on ragged rows: the keys that all queries of a block see are summed up in a state of K x V
// numbers, the rest (a block's own keys, under causality) is weighed pair by pair in tiles.
#pragma once

#include "core/mask.h"
#include "core/parameter.h"

namespace attnlab::kernels {

struct LinearInputs {
  Tensor query, key, value;  // [N, H*K], [M, H*K], [M, H*V], of one type; query and key are features
  const Mask* mask = nullptr;
  Index heads = 1;
};

// output [N, H*V]; inverses [H, N] (f32, or f64 for f64): one over the denominators, which backward needs.
void linear_forward(const LinearInputs& inputs, const Tensor& output, const Tensor& inverses);

// Gradients of query, key and value where the target has a buffer, from that of the output.
void linear_backward(const LinearInputs& inputs, const Tensor& output, const Tensor& inverses,
                     const Tensor& d_output, const Target& d_query, const Target& d_key,
                     const Target& d_value);

}  // namespace attnlab::kernels
