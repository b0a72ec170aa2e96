// Products of bf16 by loops of our own, for CPUs with AVX512-BF16 and without AMX. They read either operand
// in either order at little cost, which the library does not, and fetch what they will pack next while they
// multiply. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// Whether this CPU, and what the library is allowed to use of it, is of that kind, and the product is worth
// it. Asked for the whole product, so that its blocks may be cut as the threads need them.
bool suits_bf16_loops(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                      const MatmulOptions& options);

// c = a b with `options`, checked before, on the calling thread. Sums are taken in f32 over pairs of k in
// order, so that the bits of an element depend on the depth alone. `bypass`: c is not read soon, and its
// stores may pass the cache.
void bf16_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass = false);

}  // namespace attnlab::kernels::detail
