// The loops of matmul_loops.h for f32 with AVX-512. Headers come first, so that none of their functions is
// compiled for it.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/matmul_loops_isa.h"
#include "kernels/matmul_scratch.h"
#include "kernels/matmul_views.h"

#ifdef __x86_64__
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")

namespace attnlab::kernels::detail::avx512 {
namespace {

constexpr Index kMostWords = Index{1} << 16;  // of b packed at a time: a quarter of the second cache

#include "kernels/matmul_vectors_avx512.inl"

#include "kernels/matmul_numbers_f32.inl"

#include "kernels/matmul_loops_pack.inl"

#include "kernels/matmul_loops_tile.inl"

#include "kernels/matmul_loops_product.inl"
}  // namespace

void product_f32(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                 const MatmulOptions& options, bool bypass) {
  product_of(a, b, c, options, bypass);
}

}  // namespace attnlab::kernels::detail::avx512
#endif
