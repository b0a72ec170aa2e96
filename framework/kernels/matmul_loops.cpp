#include "kernels/matmul_loops.h"

#include "kernels/cpu.h"
#include "kernels/matmul_loops_isa.h"
#include "kernels/vectorise.h"

namespace attnlab::kernels::detail {
namespace {

#ifdef __x86_64__
LoopProduct f32_loops() {
  if (vector_isa() == VectorIsa::avx512) return avx512::product_f32;
  return vector_isa() == VectorIsa::avx2 ? avx2::product_f32 : nullptr;
}
// Where there is AMX, the library is faster.
LoopProduct bf16_loops() {
  const bool suits =
      isa_name() == "avx512_core_bf16" && has_native_bf16() && vector_isa() == VectorIsa::avx512;
  return suits ? avx512_bf16::product_bf16 : nullptr;
}
#else
LoopProduct f32_loops() { return nullptr; }
LoopProduct bf16_loops() { return nullptr; }
#endif

LoopProduct loops_for(DType type) {
  static const LoopProduct f32 = f32_loops(), bf16 = bf16_loops();
  return type == DType::f32 ? f32 : type == DType::bf16 ? bf16 : nullptr;
}

}  // namespace

bool suits_loops(const MatrixView& a, const MutableMatrixView& c, const MatmulOptions& options) {
  const Index fewest = a.type == DType::bf16 ? 16 : 4;  // rows that pay for packing b (measured)
  return c.rows >= fewest && a.columns > 0 && loops_for(a.type) != nullptr &&
         (options.activation == Activation::none || options.activation == Activation::relu);
}

void loop_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass) {
  loops_for(a.type)(a, b, c, options, bypass);
}

}  // namespace attnlab::kernels::detail
