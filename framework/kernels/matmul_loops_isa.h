// The loops of matmul_loops.h, one function for each type and instruction set. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

using LoopProduct = void (*)(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                             const MatmulOptions& options, bool bypass);

namespace avx2 {
void product_f32(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                 const MatmulOptions& options, bool bypass);
}
namespace avx512 {
void product_f32(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                 const MatmulOptions& options, bool bypass);
}
namespace avx512_bf16 {
void product_bf16(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass);
}

}  // namespace attnlab::kernels::detail
