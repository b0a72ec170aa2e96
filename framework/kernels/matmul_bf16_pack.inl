// Operands of bf16 products as words of two numbers, neighbours in k: word p of lane l (a row of a, or a column of b)
// goes to out[p * step + l], 16 lanes at a time; those beyond `lanes`, and what an odd depth lacks, are zeros. Included by
// matmul_bf16_avx512.cpp.

using Word = std::uint32_t;
constexpr int kLanes = 16;
constexpr Index kAhead = 16;  // lines

inline __mmask16 lanes_mask(Index count) {
  return count >= kLanes ? __mmask16(0xffff) : __mmask16((1U << std::max<Index>(count, 0)) - 1);
}

// 16 lanes of 16 words, a lane's words one after the other, come out pair by pair: the square is turned in four
// rounds, by words, by pairs of words, and twice by quarters of a vector.
inline void turn(const bfloat16* m, Index stride, Index lanes, Word* out, Index step) {
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

// A lane's numbers follow each other in memory.
inline void pack_along(const bfloat16* m, Index stride, Index lanes, Index depth, Word* out, Index step) {
  Index k = 0;
  for (; k + 2 * kLanes <= depth; k += 2 * kLanes, out += kLanes * step) {
    for (int lane = 0; lane < kLanes; ++lane)  // what comes after these lanes
      _mm_prefetch(reinterpret_cast<const char*>(m + (kLanes + lane) * stride + k), _MM_HINT_T0);
    turn(m + k, stride, lanes, out, step);
  }
  for (; k < depth; k += 2, out += step)
    for (Index lane = 0; lane < kLanes; ++lane) {
      const bfloat16* pair = m + lane * stride + k;
      const Word low = lane < lanes ? pair[0].bits : 0, high = lane < lanes && k + 1 < depth ? pair[1].bits : 0;
      out[lane] = low | high << 16;
    }
}

// Up to 16 lanes that follow each other in a line of one k, and where their words go.
struct Group {
  Index first;
  __mmask16 mask;
  Word* out;
};

// The lanes of one k follow each other: two lines are dovetailed, all groups in one sweep, so that each line of
// memory is read once.
inline void pack_across(const bfloat16* m, Index stride, const Group* groups, int count, Index depth, Index step) {
  const Index first = groups[0].first, last = groups[count - 1].first;
  for (Index k = 0; k < depth; k += 2) {
    const bfloat16 *even = m + k * stride, *odd = k + 1 < depth ? even + stride : nullptr;
    for (Index line = kAhead; line < kAhead + 2; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(even + line * stride + first), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(even + line * stride + last), _MM_HINT_T0);
    }
    for (int g = 0; g < count; ++g) {
      const Group& group = groups[g];
      const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(group.mask, even + group.first));
      const __m512i high = odd ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(group.mask, odd + group.first))
                               : _mm512_setzero_si512();
      _mm512_storeu_si512(group.out + k / 2 * step, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}
