// Random matrices and their plain f64 product, for the tests of matmul.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "kernels/matmul.h"

namespace attnlab::test {

// A matrix as used in a product, with a gap after each line in memory.
template <class T>
struct Sample {
  std::vector<T> values;
  Index rows, columns, stride;
  bool transposed;

  Sample(std::mt19937& random, Index rows_, Index columns_, bool transposed_ = false, Index gap = 0)
      : rows(rows_),
        columns(columns_),
        stride((transposed_ ? rows_ : columns_) + gap),
        transposed(transposed_) {
    values.resize(static_cast<std::size_t>(std::max<Index>(1, (transposed ? columns : rows) * stride)));
    std::uniform_real_distribution<float> draw(-1, 1);
    for (auto& value : values) value = static_cast<T>(draw(random));
  }
  double at(Index i, Index j) const {
    return static_cast<double>(
        values[static_cast<std::size_t>(transposed ? j * stride + i : i * stride + j)]);
  }
  kernels::MatrixView view() const { return {values.data(), dtype_of<T>, rows, columns, stride, transposed}; }
  kernels::MutableMatrixView mutable_view() { return {values.data(), dtype_of<T>, rows, columns, stride}; }
};

inline double activate(double x, kernels::Activation activation) {
  using kernels::Activation;
  if (activation == Activation::relu) return x > 0 ? x : 0;
  if (activation == Activation::gelu) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (activation == Activation::gelu_tanh)
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

// Largest error of c against plain f64 sums, in units of what rounding may do: below 1 is right. `before` is
// c before the product; the options' bias is read as `bias`.
template <class T, class C>
double worst_error(const Sample<T>& a, const Sample<T>& b, const Sample<C>& c, const Sample<C>& before,
                   const Sample<C>* bias, const kernels::MatmulOptions& options) {
  const double sum_rounding = dtype_of<T> == DType::f64 ? 1e-15 : 1e-6;
  const double store_rounding = dtype_of<C> == DType::f64 ? 1e-15 : dtype_of<C> == DType::f32 ? 1e-6 : 0.006;
  double worst = 0;
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.columns; ++j) {
      double sum = 0, size = 0;
      for (Index k = 0; k < a.columns; ++k) {
        const double term = a.at(i, k) * b.at(k, j);
        sum += term;
        size += std::abs(term);
      }
      sum *= options.alpha;
      if (bias) sum += bias->at(0, j);
      if (options.accumulate) sum += before.at(i, j);
      const double wanted = activate(sum, options.activation);
      const double bound = sum_rounding * (size + 2) + store_rounding * (std::abs(sum) + 0.01);
      const double error = std::abs(c.at(i, j) - wanted) / bound;
      worst = error <= worst ? worst : std::isnan(error) ? HUGE_VAL : error;
    }
  return worst;
}

}  // namespace attnlab::test
