#include "core/denormals.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace attnlab {

bool flush_denormals_to_zero() {
#if defined(__SSE2__)
  constexpr unsigned kResults = 0x8000, kOperands = 0x0040;  // FTZ and DAZ
  _mm_setcsr(_mm_getcsr() | kResults | kOperands);
  return true;
#else
  return false;
#endif
}

}  // namespace attnlab
