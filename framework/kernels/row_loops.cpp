#include "kernels/row_loops.h"

#include <type_traits>

#include "kernels/row_loops_isa.h"
#include "kernels/vectorise.h"

namespace attnlab::kernels {
namespace {

template <class T, class F32, class Bf16>
RowLoops<T> pick(F32 f32, Bf16 bf16) {
  if constexpr (std::is_same_v<T, float>)
    return f32();
  else
    return bf16();
}

template <class T>
RowLoops<T> choose() {
#ifdef __x86_64__
  if (vectors_round_to_bf16()) return pick<T>(avx512_bf16::row_loops_f32, avx512_bf16::row_loops_bf16);
  if (vector_isa() == VectorIsa::avx512) return pick<T>(avx512::row_loops_f32, avx512::row_loops_bf16);
  if (vector_isa() == VectorIsa::avx2) return pick<T>(avx2::row_loops_f32, avx2::row_loops_bf16);
#endif
  return pick<T>(baseline::row_loops_f32, baseline::row_loops_bf16);
}

}  // namespace

template <class T>
const RowLoops<T>& row_loops() {
  static const RowLoops<T> loops = choose<T>();
  return loops;
}
template const RowLoops<float>& row_loops();
template const RowLoops<bfloat16>& row_loops();

}  // namespace attnlab::kernels
