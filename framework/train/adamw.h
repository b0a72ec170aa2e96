// AdamW (Loshchilov and Hutter 2019, algorithm 2, with decay scaled by the learning rate as in PyTorch).
// Without decay it is Adam, with the constants of Vaswani et al. 2017, section 5.3.
#pragma once

#include "train/optimizer.h"

namespace attnlab {

struct AdamWSpec : OptimizerSpec {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, decay = 0;
  bool decay_all = false;
  void fields(Fields& f) override;
  std::unique_ptr<Optimizer> make(ParameterSet& parameters) const override;
};

}  // namespace attnlab
