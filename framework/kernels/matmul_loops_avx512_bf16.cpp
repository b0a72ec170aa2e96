// The loops of matmul_loops.h for bf16 with AVX512-BF16, one instruction of which multiplies words of two
// numbers and adds both products to a sum. Headers come first, so that none of their functions is compiled
// for it.
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
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")

namespace attnlab::kernels::detail::avx512_bf16 {
namespace {

constexpr Index kMostWords = Index{1} << 16;  // of b packed at a time: a quarter of the second cache

#include "kernels/matmul_vectors_avx512.inl"

using Number = bfloat16;
constexpr Index kPerWord = 2;

// The words of some lanes from two lines, dovetailed; the second may be missing.
inline Vector line_words(const Number* even, const Number* odd, Mask mask) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, even));
  const __m512i high =
      odd ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, odd)) : _mm512_setzero_si512();
  return (Vector)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
inline Word word_of(const Number* pair, bool second) {
  return Word{pair[0].bits} | Word{second ? pair[1].bits : std::uint16_t{0}} << 16;
}
inline Vector add_product(Vector sum, Word a, Vector b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32(static_cast<int>(a)), (__m512bh)b);
}

// Results and bias are of either type.
inline Vector load(const void* data, DType type, Index index, Mask mask) {
  if (type == DType::f32) return load(static_cast<const float*>(data) + index, mask);
  const __m256i halves = _mm256_maskz_loadu_epi16(mask, static_cast<const bfloat16*>(data) + index);
  return (Vector)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}
inline void store(bfloat16* p, Vector x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(x));
}
inline void store(bfloat16* p, Vector x, Mask mask) {
  _mm256_mask_storeu_epi16(p, mask, (__m256i)_mm512_cvtneps_pbh(x));
}
inline void bypass_cache(bfloat16* p, Vector x) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(x));
}

#include "kernels/matmul_loops_pack.inl"

#include "kernels/matmul_loops_tile.inl"

#include "kernels/matmul_loops_product.inl"
}  // namespace

void product_bf16(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass) {
  product_of(a, b, c, options, bypass);
}

}  // namespace attnlab::kernels::detail::avx512_bf16
#endif
