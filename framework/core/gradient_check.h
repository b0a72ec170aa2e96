// Compares gradients with central differences in f64. Library code, so that tests, `attnlab check attention`
// and modules outside the source tree use the same one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tape.h"

namespace attnlab {

struct GradientCheck {
  std::function<Var(Tape&, const std::vector<Var>&)>
      function;                        // any output shape: it is projected on fixed random numbers
  std::vector<Tensor> inputs;          // f64; each is differentiated
  ParameterSet* parameters = nullptr;  // f64, finalised; every trainable one is differentiated too
  bool training = true;                // dropout on (the same masks every time)
  double step = 1e-5;                  // of the central difference
  Index elements = 40;                 // at most so many elements of each tensor, spread over it
};

struct GradientReport {
  double worst = 0;   // largest |analytic - numeric| / (largest |numeric| of that tensor + 1e-3)
  std::string where;  // input or parameter and element of the worst, and whether inputs had two consumers
  double numeric = 0, analytic = 0;  // its two derivatives
};

// Runs the check twice: once plainly, once with every input shared by two consumers.
GradientReport check_gradients(const GradientCheck& check);

}  // namespace attnlab
