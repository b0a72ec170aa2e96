#include "kernels/attend_loops.h"

#include "kernels/attend_loops_isa.h"
#include "kernels/vectorise.h"

namespace attnlab::kernels::detail {
namespace {

template <class T, class F32, class F64>
AttendLoops<T> pick(F32 f32, F64 f64) {
  if constexpr (sizeof(T) == sizeof(float))
    return f32();
  else
    return f64();
}

template <class T>
AttendLoops<T> choose() {
#ifdef __x86_64__
  if (vectors_round_to_bf16()) return pick<T>(avx512_bf16::loops_f32, avx512_bf16::loops_f64);
  if (vector_isa() == VectorIsa::avx512) return pick<T>(avx512::loops_f32, avx512::loops_f64);
  if (vector_isa() == VectorIsa::avx2) return pick<T>(avx2::loops_f32, avx2::loops_f64);
#endif
  return pick<T>(baseline::loops_f32, baseline::loops_f64);
}

}  // namespace

template <class T>
const AttendLoops<T>& attend_loops() {
  static const AttendLoops<T> loops = choose<T>();
  return loops;
}
template const AttendLoops<float>& attend_loops();
template const AttendLoops<double>& attend_loops();

}  // namespace attnlab::kernels::detail
