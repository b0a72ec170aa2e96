// Vectors of 32 bytes with the instructions of AVX2. Included inside a namespace of its own, after
// <immintrin.h> and the headers that vectors.inl needs.
constexpr Index kVectorBytes = 32;
#include "kernels/vector_types.inl"

// What the compiler does not find by itself: the 64-bit products of the low halves of lanes, halves as words,
// rounding to bf16, a > b ? a : b, roots, whether some lane is true, and stores past the cache, which others see
// after finish_bypass().
inline Wide product_of_halves(Wide a, Wide b) { return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
inline Words words_of(Halves x) { return (Words)_mm256_cvtepu16_epi32((__m128i)x); }
inline Halves narrow(Vec<float> x) {
  const auto words = (__m256i)rounded_words(x);
  const __m256i halves = _mm256_packus_epi32(words, words);  // twice in each half of the vector
  return (Halves)_mm256_castsi256_si128(_mm256_permute4x64_epi64(halves, 0x08));
}
inline Vec<float> larger(Vec<float> a, Vec<float> b) { return (Vec<float>)_mm256_max_ps((__m256)a, (__m256)b); }
inline Vec<float> root(Vec<float> x) { return (Vec<float>)_mm256_sqrt_ps((__m256)x); }
inline bool any(Vec<std::int32_t> x) { return _mm256_movemask_ps((__m256)x) != 0; }
inline void bypass_cache(Halves* p, Halves x) { _mm_stream_si128(reinterpret_cast<__m128i*>(p), (__m128i)x); }
inline void finish_bypass() { _mm_sfence(); }

#include "kernels/vectors.inl"
