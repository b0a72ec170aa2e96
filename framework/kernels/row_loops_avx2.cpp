// The loops over rows for avx2. Headers come first, so that none of their functions is compiled for it.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/row_loops.h"
#include "kernels/row_loops_isa.h"

#ifdef __x86_64__
#pragma GCC target("avx2,fma")
namespace attnlab::kernels::avx2 {
namespace {
#include "kernels/vectors_avx2.inl"

#include "kernels/row_loops.inl"
}  // namespace

RowLoops<float> row_loops_f32() { return row_table<float>(); }
RowLoops<bfloat16> row_loops_bf16() { return row_table<bfloat16>(); }

}  // namespace attnlab::kernels::avx2
#endif
