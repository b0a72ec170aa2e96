// One product on the calling thread through oneDNN. Two kinds of primitive: one for operands of any shape and
// stride, made once for each combination of types, transposes and options; and one for an exact shape,
// faster, made only for dense blocks of the sizes that `matmul` cuts. Which one runs depends on shape and
// options alone. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// c = activation(alpha * a b + bias + (accumulate ? c : 0)) for f32 and bf16, on one thread.
void library_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                     const MatmulOptions& options);

}  // namespace attnlab::kernels::detail
