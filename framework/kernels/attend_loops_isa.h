// The tables of attention loops, one for each instruction set. Internal to attend.
#pragma once

#include "kernels/attend_loops.h"

namespace attnlab::kernels::detail {

namespace baseline {
AttendLoops<float> loops_f32();
AttendLoops<double> loops_f64();
}  // namespace baseline
namespace avx2 {
AttendLoops<float> loops_f32();
AttendLoops<double> loops_f64();
}  // namespace avx2
namespace avx512 {
AttendLoops<float> loops_f32();
AttendLoops<double> loops_f64();
}  // namespace avx512
namespace avx512_bf16 {
AttendLoops<float> loops_f32();
AttendLoops<double> loops_f64();
}  // namespace avx512_bf16

}  // namespace attnlab::kernels::detail
