// What products need of vectors of 32 bytes with AVX2: parts of vectors, stores past the cache, and squares
// turned. Included inside a namespace of its own, after <immintrin.h>.

constexpr Index kLanes = 8;     // words of a vector
constexpr Index kMostRows = 6;  // with panels of two vectors, their sums just fit in the registers
constexpr Index kFew = 4, kFewInConflict = 1;  // strips of rows that do not pay for packing b (measured)
using Word = std::uint32_t;
using Vector = __m256;
using Mask = __m256i;

// Whether words that lie across, `stride` apart, may be read there: not if they push each other out of the
// cache.
inline bool suits_across(Index stride) { return stride % 512 != 0; }

// The first `count` lanes.
inline Mask lanes_mask(Index count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::clamp<Index>(count, 0, kLanes))), lanes);
}
inline Vector load(const float* p) { return _mm256_loadu_ps(p); }
inline Vector load(const float* p, Mask mask) { return _mm256_maskload_ps(p, mask); }
inline void store(float* p, Vector x) { _mm256_storeu_ps(p, x); }
inline void store(float* p, Vector x, Mask mask) { _mm256_maskstore_ps(p, mask, x); }
inline void bypass_cache(float* p, Vector x) { _mm256_stream_ps(p, x); }
inline void finish_bypass() { _mm_sfence(); }
inline Vector zeros() { return _mm256_setzero_ps(); }
inline Vector all(float x) { return _mm256_set1_ps(x); }
inline Vector multiply_add(Vector a, Vector b, Vector sum) { return _mm256_fmadd_ps(a, b, sum); }
inline Vector larger(Vector a, Vector b) { return _mm256_max_ps(a, b); }

// 8 lanes of 8 words, a lane's words one after the other, come out word by word: the square is turned in
// three rounds, by words, by pairs of words, and by halves of a vector.
template <class Number>
inline void turn(const Number* m, Index stride, Index lanes, Word* out, Index step) {
  __m256 r[8], t[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = i < lanes ? _mm256_loadu_ps(m + i * stride) : _mm256_setzero_ps();
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  auto* place = reinterpret_cast<float*>(out);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(place + i * step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(place + (i + 4) * step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
