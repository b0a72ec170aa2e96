// Scaled dot-product attention on ragged rows. No table of weights is kept: what stays in memory is linear in
// length, and the work follows the mask (half for causal, a band's width for a band).
#pragma once

#include "core/mask.h"
#include "core/tape.h"

namespace attnlab {

struct AttendOptions {
  Index heads = 1;
  double scale = 1;          // of the scores; usually 1 / sqrt(K)
  double dropout = 0;        // of the weights, after softmax; off when the tape does not train
  std::uint64_t stream = 0;  // of dropout
};

// softmax(scale q k^T) v over the keys that each query sees (Vaswani et al. 2017, equation 1), in every head:
// query [N, H*K], key [M, H*K], value [M, H*V] -> [N, H*V]; V may differ from K. Any of them may be column
// views of wider matrices. A query that sees nothing gives a zero row and no gradient. Keys that no query
// sees may hold anything, NaN included. ShapeError if shapes, types or the mask do not fit.
Var attend(const Var& query, const Var& key, const Var& value, const Mask& mask,
           const AttendOptions& options);

// The weights before dropout, dense and zero where nothing is seen: [B, H, longest T, longest S], of the type
// of the query (f32 for bf16). Without gradient, for tests and probes.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Mask& mask,
                         const AttendOptions& options);

// Throws ShapeError unless the rows and columns of query, key and value fit `mask` and `heads`.
void check_attention(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                     const Mask& mask, Index heads);
// A result of [rows, columns]; zeroed where `sequences` leave rows out, which no kernel writes.
Tensor attention_output(const Sequences& sequences, Index rows, Index columns, DType type);
// Throws ShapeError if sentences share rows: those have no single owner that could write their gradient.
void check_owned_rows(const char* op, const Sequences& sequences);

}  // namespace attnlab
