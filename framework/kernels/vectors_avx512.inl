// Vectors of 64 bytes with the instructions of AVX-512. Included inside a namespace of its own, after
// <immintrin.h> and the headers that vectors.inl needs.
constexpr Index kVectorBytes = 64;
#include "kernels/vector_types.inl"

// What the compiler does not find by itself: the 64-bit products of the low halves of lanes, halves as words,
// rounding to bf16, a > b ? a : b, roots, whether some lane is true, and stores past the cache, which others see
// after finish_bypass().
inline Wide product_of_halves(Wide a, Wide b) { return (Wide)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
inline Words words_of(Halves x) { return (Words)_mm512_cvtepu16_epi32((__m256i)x); }
inline Halves narrow(Vec<float> x) { return (Halves)_mm512_cvtepi32_epi16((__m512i)rounded_words(x)); }
inline Vec<float> larger(Vec<float> a, Vec<float> b) { return (Vec<float>)_mm512_max_ps((__m512)a, (__m512)b); }
inline Vec<float> root(Vec<float> x) { return (Vec<float>)_mm512_sqrt_ps((__m512)x); }
inline bool any(Vec<std::int32_t> x) { return _mm512_movepi32_mask((__m512i)x) != 0; }
inline void bypass_cache(Halves* p, Halves x) { _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)x); }
inline void finish_bypass() { _mm_sfence(); }

#include "kernels/vectors.inl"
