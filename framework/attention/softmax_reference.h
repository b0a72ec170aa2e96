// The naive f64 formula that kinds with a softmax over dot products share: sum over visible s of
// exp(scale q_t k_s) v_s / sum of exp(scale q_t k_s); zero where nothing is visible.
#pragma once

#include "attention/attention.h"

namespace attnlab {

std::vector<double> softmax_reference(const HeadProblem& problem, double scale);

}  // namespace attnlab
