// Training steps as the benchmarks time them: batch, forward, loss, backward, clip, AdamW.
#pragma once

#include "bench/measuring.h"
#include "bench/presets.h"

namespace attnlab {

struct StepOptions : MeasureOptions {
  double dropout = -1;  // negative: the preset's
  int steps = 7, warm_up = 3;
  std::vector<std::string> trainable{"all"};
  bool profile = false;  // also print a profile of as many more steps to stderr
};

// Times steps of a preset on random tokens. The counts are of one more step: multiply-adds of matrix
// products, bytes that the other operations have to move at least.
Record measure_steps(const Preset& preset, const StepOptions& options);

}  // namespace attnlab
