// Loops over one row of f32 or bf16, compiled once for each instruction set: softmax statistics, layer norm,
// dropout, relu and sums. Sums are taken in f32, lane by lane, so that their bits depend on the instruction
// set and the row alone. f64 has no such loops: it is for checks, and ops write it out.
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

// Numbers of one update of AdamW: m = m + keep1 (g - m), v = beta2 v + keep2 g^2 for g = scale * gradient,
// and then w = shrink * w - step_size * m / (sqrt(v) second_scale + epsilon).
struct AdamWStep {
  float scale, step_size, keep1, beta2, keep2, second_scale, epsilon, shrink;
};

// Pointers may be null where a comment says so.
template <class T>
struct RowLoops {
  RowStatistics (*statistics)(const T* x, Index columns);
  // The first place from `first` on that is above the threshold; `columns` if none is.
  Index (*first_above)(const T* x, Index first, Index columns, float threshold);
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
  // x = max(x, 0) * factors, where 0 stays 0 whatever x; factors: may be null. NaN stays
  void (*relu)(const float* factors, Index columns, T* x);
  // dy = y > 0 ? dy * scale : 0, added to sums; sums: may be null
  void (*relu_backward)(const T* y, float scale, Index columns, T* dy, float* sums);
  void (*add_to)(const T* x, Index columns, float* sums);  // sums += x
  void (*round)(const float* x, Index columns, T* y);      // y = x, to nearest even
  // Updates `count` weights w and their moments m and v. copy: w rounded; may be null. `bypass` writes the
  // copy past the cache: for one that is larger than the cache.
  void (*adamw)(const AdamWStep& step, Index count, const float* gradient, float* w, float* m, float* v,
                T* copy, bool bypass);
  // 0 or scale for each column.
  void (*dropout_factors)(const DropoutRow& row, Index columns, float* factors);
};

template <class T>
const RowLoops<T>& row_loops();  // for this CPU; T is float or bfloat16

}  // namespace attnlab::kernels
