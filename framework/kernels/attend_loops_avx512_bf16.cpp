// The inner loops of attention for avx512 with bf16. Headers come first, so that none of their functions is
// compiled for it.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/attend_loops.h"
#include "kernels/attend_loops_isa.h"

#ifdef __x86_64__
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
namespace attnlab::kernels::detail::avx512_bf16 {
namespace {
#include "kernels/vectors_avx512_bf16.inl"

#include "kernels/attend_loops.inl"
}  // namespace

AttendLoops<float> loops_f32() { return table<float>(); }
AttendLoops<double> loops_f64() { return table<double>(); }

}  // namespace attnlab::kernels::detail::avx512_bf16
#endif
