// Loops over one row of f32 or bf16, compiled once for each instruction set: softmax statistics, layer norm,
// dropout and sums. Sums are taken in f32, lane by lane, so that their bits depend on the instruction set and
// the row alone. f64 has no such loops: it is for checks, and ops write it out.
#pragma once

#include "core/dtype.h"

namespace attnlab::kernels {

struct RowStatistics {
  float maximum, sum, total;  // largest x, sum of exp(x - maximum), sum of x
};

struct DropoutRow {
  std::uint64_t key, step, row;  // of Random; the row within the accumulation window
  std::uint32_t threshold;       // 16-bit draws below it are dropped
  float scale;                   // of what is kept
};

struct NormMoments {
  float mean, inverse_deviation;
};

// Pointers may be null where a comment says so.
template <class T>
struct RowLoops {
  RowStatistics (*statistics)(const T* x, Index columns);
  // dx = (add ? dx : 0) + exp(x - log_sum) * scale - shift
  void (*softmax_gradient)(const T* x, Index columns, float log_sum, float scale, float shift, bool add,
                           T* dx);
  // y = (x - mean) * inverse_deviation * gain + bias; gain, bias: may be null
  NormMoments (*norm)(const T* x, Index columns, float epsilon, const T* gain, const T* bias, T* y);
  // dx = (add ? dx : 0) + r (dz - mean(dz) - z mean(dz z)), with z = (x - mean) r and dz = dy gain. Adds dy z
  // to gain_sum and dy to bias_sum. gain, dx, gain_sum, bias_sum: may be null
  void (*norm_backward)(const T* x, const T* dy, Index columns, NormMoments moments, const T* gain, bool add,
                        T* dx, float* gain_sum, float* bias_sum);
  // y = (add ? y : 0) + base_scale * base + factors x, 0 where a factor is 0; factors, base: may be null
  void (*combine)(const T* x, const float* factors, const T* base, float base_scale, Index columns, bool add,
                  T* y);
  void (*add_to)(const T* x, Index columns, float* sums);  // sums += x
  // 0 or scale for each column.
  void (*dropout_factors)(const DropoutRow& row, Index columns, float* factors);
};

template <class T>
const RowLoops<T>& row_loops();  // for this CPU; T is float or bfloat16

}  // namespace attnlab::kernels
