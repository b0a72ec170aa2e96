// The inner loops of attention for baseline. Headers come first, so that none of their functions is compiled
// for it.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/attend_loops.h"
#include "kernels/attend_loops_isa.h"

namespace attnlab::kernels::detail::baseline {
namespace {
#include "kernels/vectors_baseline.inl"

#include "kernels/attend_loops.inl"
}  // namespace

AttendLoops<float> loops_f32() { return table<float>(); }
AttendLoops<double> loops_f64() { return table<double>(); }

}  // namespace attnlab::kernels::detail::baseline
