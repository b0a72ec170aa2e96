// Compiles one loop for several instruction sets and picks the best that the CPU has. The loop is a lambda
// over [begin, end) marked always_inline that holds plain arithmetic and calls only functions marked so too
// (such as those of vector_math.h): whatever is not inlined runs as baseline code, so nothing leaks.
#pragma once

#include "core/parallel.h"

namespace attnlab::kernels {

// Element access for such loops. bf16 goes through its bits: temporary objects would keep the compiler from
// making vectors of them.
template <class T>
[[gnu::always_inline]] inline Accumulator<T> load(const T& x) {
  if constexpr (std::is_same_v<T, bfloat16>)
    return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
  else
    return x;
}
// Rounds once, to nearest even; NaN stays NaN.
template <class T, class A>
[[gnu::always_inline]] inline void store(T& to, A value) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U), quiet = word | 0x400000U;
    to.bits = static_cast<std::uint16_t>(((word & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) >> 16);
  } else {
    to = static_cast<T>(value);
  }
}

enum class VectorIsa : std::uint8_t { baseline, avx2, avx512 };

VectorIsa vector_isa();        // asked once; no more than the products are allowed to use
bool vectors_round_to_bf16();  // AVX-512 with instructions that round to bf16

namespace detail {
#ifdef __x86_64__
template <class Loop>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void loop_avx512(const Loop& loop, Index begin,
                                                                                Index end) {
  loop(begin, end);
}
template <class Loop>
[[gnu::target("avx2,fma")]] void loop_avx2(const Loop& loop, Index begin, Index end) {
  loop(begin, end);
}
#endif
}  // namespace detail

// Calls loop(begin, end) on this thread.
template <class Loop>
void vectorised(Index begin, Index end, const Loop& loop) {
#ifdef __x86_64__
  const VectorIsa isa = vector_isa();
  if (isa == VectorIsa::avx512) return detail::loop_avx512(loop, begin, end);
  if (isa == VectorIsa::avx2) return detail::loop_avx2(loop, begin, end);
#endif
  loop(begin, end);
}

// The same over all threads, in pieces of at least `grain` items.
template <class Loop>
void parallel_vectorised(Index count, Index grain, const Loop& loop) {
  parallel_for(count, grain, [&loop](Index begin, Index end) { vectorised(begin, end, loop); });
}

}  // namespace attnlab::kernels
