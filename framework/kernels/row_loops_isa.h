// The tables of row loops, one for each instruction set. Internal to row_loops.
#pragma once

#include "kernels/row_loops.h"

namespace attnlab::kernels {

namespace baseline {
RowLoops<float> row_loops_f32();
RowLoops<bfloat16> row_loops_bf16();
}  // namespace baseline
namespace avx2 {
RowLoops<float> row_loops_f32();
RowLoops<bfloat16> row_loops_bf16();
}  // namespace avx2
namespace avx512 {
RowLoops<float> row_loops_f32();
RowLoops<bfloat16> row_loops_bf16();
}  // namespace avx512
namespace avx512_bf16 {
RowLoops<float> row_loops_f32();
RowLoops<bfloat16> row_loops_bf16();
}  // namespace avx512_bf16

}  // namespace attnlab::kernels
