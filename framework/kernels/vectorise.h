// Compiles one loop for several instruction sets and picks the best that the CPU has. The loop is a lambda
// over [begin, end) marked always_inline that holds plain arithmetic and calls only functions marked so too
// (such as those of vector_math.h): whatever is not inlined runs as baseline code, so nothing leaks.
#pragma once

#include "core/parallel.h"

namespace attnlab::kernels {

enum class VectorIsa : std::uint8_t { baseline, avx2, avx512 };

VectorIsa vector_isa();  // asked once; no more than the products are allowed to use

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
