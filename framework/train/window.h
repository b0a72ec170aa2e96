// One accumulation window: forward and backward over the micro-batches of an optimiser step. The loss is
// divided by the target tokens of the whole window, so that 1 x 32, 4 x 8 and 32 x 1 sentences give the same
// gradient.
#pragma once

#include <vector>

#include "train/build_model.h"
#include "train/loss_sums.h"

namespace attnlab {

struct WindowOptions {
  double smoothing = 0;
  SmoothingSupport support = SmoothingSupport::vocabulary;
  std::uint64_t seed = 0;  // of dropout
  Index step = 0;
  bool find_nan = false;
};

// Fills the gradient arena with the mean gradient of the window and returns its sums. Earlier gradients are
// overwritten.
LossSums window_gradient(BuiltModel& built, const std::vector<Batch>& pieces, const WindowOptions& options);

// The loss of a batch without dropout and without gradients.
LossSums batch_loss(const BuiltModel& built, const Batch& batch, const WindowOptions& options);

}  // namespace attnlab
