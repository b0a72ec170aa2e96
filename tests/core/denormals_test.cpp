#include "core/denormals.h"

#include <atomic>

#include "core/parallel.h"
#include "support/catch.h"

using namespace attnlab;

TEST_CASE("numbers below the smallest normal one are zero, in every thread") {
  if (!flush_denormals_to_zero()) return;  // tests/support/main.cpp has called it before any thread began
  std::atomic<int> kept = 0;
  parallel_for(64, 1, [&kept](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      volatile float small = 1e-30F, tiny = 1e-39F;
      volatile double small_double = 1e-300;
      if (small * small != 0 || tiny * 1e10F != 0 || small_double * small_double != 0) ++kept;
    }
  });
  CHECK(kept == 0);
}
