// Scaled dot-product attention on ragged rows, without a table of weights: blocks of queries against blocks
// of keys with a running softmax (Milakov & Gimelshein 2018; Rabe & Staats 2021). Blocks are counted within
// each sentence, so that the bits of a result depend neither on the other sentences nor on the number of
// threads.
#pragma once

#include "core/mask.h"
#include "core/parameter.h"
#include "core/random.h"

namespace attnlab::kernels {

struct AttendInputs {
  Tensor query, key, value;  // [N, H*K], [M, H*K], [M, H*V], of one type; rows may lie apart
  const Mask* mask = nullptr;
  Index heads = 1;
  double scale = 1;
  std::uint32_t drop_threshold = 0;  // of 65536; 0: no dropout
  Random random;
};

// output [N, H*V]; statistics [2 * H, N] (f32, or f64 for f64): what backward needs, per head a row of the
// largest scores and one of the inverse sums of exponentials.
void attend_forward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics);

// Gradients of query, key and value where the target has a buffer, from that of the output.
void attend_backward(const AttendInputs& inputs, const Tensor& output, const Tensor& statistics,
                     const Tensor& d_output, const Target& d_query, const Target& d_key,
                     const Target& d_value);

}  // namespace attnlab::kernels
