// What products need of vectors of 64 bytes with AVX-512: parts of vectors, stores past the cache, and
// squares turned. Included inside a namespace of its own, after <immintrin.h>.

constexpr Index kLanes = 16;     // words of a vector
constexpr Index kMostRows = 14;  // with panels of two vectors, their sums just fit in the registers
constexpr Index kFew = 4, kFewInConflict = 3;  // strips of rows that do not pay for packing b (measured)
using Word = std::uint32_t;
using Vector = __m512;
using Mask = __mmask16;

// Whether words that lie across, `stride` apart, may be read there: each line has those of most rows of a
// tile.
inline bool suits_across(Index) { return true; }

// The first `count` lanes.
inline Mask lanes_mask(Index count) {
  return count >= kLanes ? Mask(0xffff) : Mask((1U << std::max<Index>(count, 0)) - 1);
}
inline Vector load(const float* p) { return _mm512_loadu_ps(p); }
inline Vector load(const float* p, Mask mask) { return _mm512_maskz_loadu_ps(mask, p); }
inline void store(float* p, Vector x) { _mm512_storeu_ps(p, x); }
inline void store(float* p, Vector x, Mask mask) { _mm512_mask_storeu_ps(p, mask, x); }
inline void bypass_cache(float* p, Vector x) { _mm512_stream_ps(p, x); }
inline void finish_bypass() { _mm_sfence(); }
inline Vector zeros() { return _mm512_setzero_ps(); }
inline Vector all(float x) { return _mm512_set1_ps(x); }
inline Vector multiply_add(Vector a, Vector b, Vector sum) { return _mm512_fmadd_ps(a, b, sum); }
inline Vector larger(Vector a, Vector b) { return _mm512_max_ps(a, b); }

// 16 lanes of 16 words, a lane's words one after the other, come out word by word: the square is turned in
// four rounds, by words, by pairs of words, and twice by quarters of a vector.
template <class Number>
inline void turn(const Number* m, Index stride, Index lanes, Word* out, Index step) {
  __m512i r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = i < lanes ? _mm512_loadu_si512(m + i * stride) : _mm512_setzero_si512();
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm512_storeu_si512(out + i * step, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
    _mm512_storeu_si512(out + (i + 4) * step, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88));
    _mm512_storeu_si512(out + (i + 8) * step, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
    _mm512_storeu_si512(out + (i + 12) * step, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd));
  }
}
