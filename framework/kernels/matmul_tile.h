// Products by loops of our own, on the calling thread: f64, and f32 products too small for a library call.
// Each element of c is one chain of multiply-adds in the order of k, whatever its place. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// All types that `matmul` takes; bf16 is widened to f32 first.
void tile_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options);

// Writes a dense matrix of sums to c with `options`, whose alpha is still to be applied; the sums are used
// up. T is float, or double for c of f64.
template <class T>
void finish(T* sums, const MutableMatrixView& c, const MatmulOptions& options);
extern template void finish(float* sums, const MutableMatrixView& c, const MatmulOptions& options);
extern template void finish(double* sums, const MutableMatrixView& c, const MatmulOptions& options);

// Copies a matrix of bf16 to f32; `out` has room for it. The lines in memory come out dense.
MatrixView widen(const MatrixView& m, float* out);

}  // namespace attnlab::kernels::detail
