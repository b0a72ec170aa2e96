#include "kernels/matmul.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/parallel.h"
#include "kernels/cpu.h"
#include "support/catch.h"

using namespace attnlab;
using kernels::Activation;
using kernels::MatmulOptions;
using kernels::MatrixView;
using kernels::MutableMatrixView;

namespace {

// A matrix with room around it, as used in a product.
template <class T>
struct Sample {
  std::vector<T> values;
  Index rows, columns, stride;
  bool transposed;

  Sample(std::mt19937& random, Index rows_, Index columns_, bool transposed_, Index gap)
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
  MatrixView view() const { return {values.data(), dtype_of<T>, rows, columns, stride, transposed}; }
  MutableMatrixView mutable_view() { return {values.data(), dtype_of<T>, rows, columns, stride}; }
};

double activate(double x, Activation activation) {
  if (activation == Activation::relu) return x > 0 ? x : 0;
  if (activation == Activation::gelu) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (activation == Activation::gelu_tanh)
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

struct Case {
  Index rows, depth, columns;
  bool a_transposed = false, b_transposed = false, bias = false, accumulate = false;
  Activation activation = Activation::none;
  double alpha = 1;
};

// Largest error against plain f64 sums, in units of what rounding may do; also fails when memory around c
// changes.
template <class T, class C>
void check_case(std::mt19937& random, const Case& shape) {
  CAPTURE(to_string(dtype_of<T>), to_string(dtype_of<C>), shape.rows, shape.depth, shape.columns,
          shape.a_transposed, shape.b_transposed, shape.bias, shape.accumulate,
          static_cast<int>(shape.activation), shape.alpha);
  const Sample<T> a(random, shape.rows, shape.depth, shape.a_transposed, static_cast<Index>(random() % 5));
  const Sample<T> b(random, shape.depth, shape.columns, shape.b_transposed, static_cast<Index>(random() % 5));
  const Sample<C> bias(random, 1, shape.columns, false, 0);
  Sample<C> c(random, shape.rows, shape.columns, false, static_cast<Index>(random() % 5));
  const Sample<C> before = c;
  MatmulOptions options;
  options.accumulate = shape.accumulate;
  options.activation = shape.activation;
  options.alpha = shape.alpha;
  if (shape.bias) options.bias = bias.values.data(), options.bias_type = dtype_of<C>;
  kernels::matmul(a.view(), b.view(), c.mutable_view(), options);
  const double sum_rounding = dtype_of<T> == DType::f64 ? 1e-15 : 1e-6;
  const double store_rounding = dtype_of<C> == DType::f64 ? 1e-15 : dtype_of<C> == DType::f32 ? 1e-6 : 0.009;
  double worst = 0;
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.columns; ++j) {
      double sum = 0, size = 0;
      for (Index k = 0; k < shape.depth; ++k) {
        sum += a.at(i, k) * b.at(k, j);
        size += std::abs(a.at(i, k) * b.at(k, j));
      }
      sum *= shape.alpha;
      if (shape.bias) sum += bias.at(0, j);
      if (shape.accumulate) sum += before.at(i, j);
      const double wanted = activate(sum, shape.activation);
      const double bound = sum_rounding * (size + 2) + store_rounding * (std::abs(sum) + 0.01);
      worst = std::max(worst, std::abs(c.at(i, j) - wanted) / bound);
    }
  CHECK(worst < 1);
  for (Index i = 0; i + 1 < c.rows; ++i)
    for (Index j = c.columns; j < c.stride; ++j)
      if (c.at(i, j) != before.at(i, j)) FAIL("wrote between the rows of c");
}

void check_all_types(std::mt19937& random, const Case& shape) {
  check_case<double, double>(random, shape);
  check_case<float, float>(random, shape);
  check_case<bfloat16, bfloat16>(random, shape);
  check_case<bfloat16, float>(random, shape);
}

Case random_case(std::mt19937& random, Index largest) {
  const auto draw = [&](Index below) { return static_cast<Index>(random() % static_cast<unsigned>(below)); };
  Case shape{1 + draw(largest), 1 + draw(largest), 1 + draw(largest)};
  shape.a_transposed = draw(2);
  shape.b_transposed = draw(2);
  shape.bias = draw(2);
  shape.accumulate = draw(2);
  shape.activation = static_cast<Activation>(draw(4));
  if (!shape.bias && draw(2)) shape.alpha = 0.25;
  return shape;
}

}  // namespace

TEST_CASE("products of every type, shape and option agree with plain sums") {
  std::mt19937 random(1);
  for (int i = 0; i < 150; ++i) check_all_types(random, random_case(random, 70));
  for (int i = 0; i < 6; ++i) check_all_types(random, random_case(random, 700));
}
