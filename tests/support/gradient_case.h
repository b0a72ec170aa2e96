// A gradient check that introduces itself: `const GradientCase softmax{"softmax", [] { return
// GradientCheck{…}; }};` at file scope of tests/ops/X_test.cpp. every_op_test.cpp runs them all and fails
// when an op has none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/gradient_check.h"

namespace attnlab {

struct GradientCase {
  GradientCase(std::string case_name, std::function<GradientCheck()> make_check, double allowed = 1e-6)
      : name(std::move(case_name)), make(std::move(make_check)), tolerance(allowed) {
    all().push_back(*this);
  }
  static std::vector<GradientCase>& all() {
    static std::vector<GradientCase> table;
    return table;
  }
  std::string name;
  std::function<GradientCheck()> make;
  double tolerance;
};

// f64 numbers from a standard normal distribution, different for each name.
inline Tensor random_tensor(const Shape& shape, const std::string& name, DType type = DType::f64) {
  const Random random(11, stream_name(name));
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return Tensor::from(shape, type, values);
}

}  // namespace attnlab
