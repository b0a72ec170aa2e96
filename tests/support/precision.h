// How far an op in f32 or bf16 is from itself in f64, values and gradients, on inputs that both types hold
// exactly.
#pragma once

#include <algorithm>
#include <cmath>

#include "support/gradient_case.h"

namespace attnlab {

namespace detail {

// Value, then the gradient of each input, under a fixed output gradient.
inline std::vector<std::vector<double>> evaluate_in(DType type, DType rounding, const GradientCheck& check) {
  Tape tape({.seed = 5});
  std::vector<Var> inputs;
  for (const Tensor& input : check.inputs)
    inputs.push_back(tape.variable(input.converted(rounding).converted(type)));
  const Var y = check.function(tape, inputs);
  std::vector<std::vector<double>> results{y.value().to_doubles()};
  tape.backward(y, random_tensor(y.shape(), "dy").converted(rounding).converted(type));
  for (const Var& input : inputs) {
    const Tensor& gradient = tape.gradient(input);
    results.push_back(gradient ? gradient.to_doubles() : std::vector<double>{});
  }
  return results;
}

// The largest |difference| of an element, over the largest |expected element| of its tensor.
inline double largest_distance(const std::vector<std::vector<double>>& got,
                               const std::vector<std::vector<double>>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double largest = 1e-30, difference = got[i].size() == expected[i].size() ? 0 : HUGE_VAL;
    for (std::size_t k = 0; k < std::min(got[i].size(), expected[i].size()); ++k) {
      largest = std::max(largest, std::abs(expected[i][k]));
      const double here = std::abs(got[i][k] - expected[i][k]);
      difference = std::isnan(here) ? HUGE_VAL : std::max(difference, here);
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

}  // namespace detail

// How far an op in a type is from itself in f64.
inline double distance_from_f64(DType type, const GradientCheck& check) {
  return detail::largest_distance(detail::evaluate_in(type, type, check),
                                  detail::evaluate_in(DType::f64, type, check));
}

// How far a fast op is from its composed twin in one type.
inline double distance_of_twins(DType type, const GradientCheck& fast, const GradientCheck& twin) {
  return detail::largest_distance(detail::evaluate_in(type, type, fast),
                                  detail::evaluate_in(type, type, twin));
}

}  // namespace attnlab
