// Products by vector loops of our own, for f32 on CPUs with AVX2 or AVX-512 and for bf16 on those with
// AVX512-BF16 and without AMX. They read either operand in either order at little cost, which the library
// does not, and fetch what they will pack next while they multiply. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// Whether there are loops for these types and options on this CPU, as far as the library may use it, and the
// product is worth them. Asked for the whole product, so that its blocks may be cut as the threads need them.
bool suits_loops(const MatrixView& a, const MutableMatrixView& c, const MatmulOptions& options);

// c = a b with `options`, for operands that suit, checked before, on the calling thread. Sums are taken in
// f32 in the order of k, so that the bits of an element depend on the depth alone. `bypass`: c is not read
// soon, and its stores may pass the cache.
void loop_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass = false);

}  // namespace attnlab::kernels::detail
