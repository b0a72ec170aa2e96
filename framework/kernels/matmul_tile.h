// Products by loops of our own, on the calling thread: f64, and f32 products too small for a library call.
// Each element of c is one chain of multiply-adds in the order of k, whatever its place. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// All types that `matmul` takes; bf16 is widened to f32 first.
void tile_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options);

}  // namespace attnlab::kernels::detail
