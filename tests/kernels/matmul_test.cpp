#include "kernels/matmul.h"

#include <limits>

#include "kernels/matmul_sample.h"
#include "support/catch.h"

using namespace attnlab;
using kernels::Activation;
using kernels::MatmulOptions;
using test::Sample;

namespace {

struct Case {
  Index rows, depth, columns;
  bool a_transposed = false, b_transposed = false, bias = false;
  MatmulOptions options = {};
};

// Multiplies random matrices and compares with plain sums; also fails when memory between the rows of c
// changes.
template <class T, class C>
void check_case(std::mt19937& random, const Case& shape) {
  CAPTURE(to_string(dtype_of<T>), to_string(dtype_of<C>), shape.rows, shape.depth, shape.columns,
          shape.a_transposed, shape.b_transposed, shape.bias, shape.options.accumulate,
          static_cast<int>(shape.options.activation), shape.options.alpha);
  const auto gap = [&] { return static_cast<Index>(random() % 3 * 3); };
  const Sample<T> a(random, shape.rows, shape.depth, shape.a_transposed, gap());
  const Sample<T> b(random, shape.depth, shape.columns, shape.b_transposed, gap());
  const Sample<C> bias(random, 1, shape.columns);
  Sample<C> c(random, shape.rows, shape.columns, false, gap());
  if (!shape.options.accumulate)
    for (Index i = 0; i < c.rows; ++i)
      for (Index j = 0; j < c.columns; ++j)
        c.values[static_cast<std::size_t>(i * c.stride + j)] = std::numeric_limits<float>::quiet_NaN();
  const Sample<C> before = c;
  MatmulOptions options = shape.options;
  if (shape.bias) options.bias = bias.values.data(), options.bias_type = dtype_of<C>;
  kernels::matmul(a.view(), b.view(), c.mutable_view(), options);
  CHECK(test::worst_error(a, b, c, before, shape.bias ? &bias : nullptr, options) < 1);
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
  shape.options.accumulate = draw(2);
  shape.options.activation = static_cast<Activation>(draw(4));
  if (!shape.bias && draw(2)) shape.options.alpha = 0.3;
  return shape;
}

}  // namespace

TEST_CASE("products of every type, shape and option agree with plain sums") {
  std::mt19937 random(1);
  for (int i = 0; i < 150; ++i) check_all_types(random, random_case(random, 70));
  for (int i = 0; i < 8; ++i) check_all_types(random, random_case(random, 500));
}

TEST_CASE("products of the sizes at which the way changes agree with plain sums") {
  std::mt19937 random(2);
  for (const Index rows : {1, 2, 64, 65, 96, 256, 257, 300})
    for (const bool b_transposed : {false, true}) {
      Case shape{rows, 128, 144, false, b_transposed, true};
      shape.options.accumulate = rows % 2 == 0;
      check_all_types(random, shape);
      check_all_types(random, {144, rows, 96, true, b_transposed});
      check_all_types(random, {128, 96, rows, false, b_transposed});
    }
}

TEST_CASE("gradients of weights, with a long sum in pieces, agree with plain sums") {
  std::mt19937 random(3);
  for (const Index tokens : {511, 1024, 1500, 3001})
    for (const bool accumulate : {false, true}) {
      Case shape{64, tokens, 48, true, false};
      shape.options.accumulate = accumulate;
      check_all_types(random, shape);
      shape.options.activation = Activation::relu;
      shape.bias = true;
      check_all_types(random, shape);
    }
}

TEST_CASE("products in several passes over their depth, and large results, agree with plain sums") {
  std::mt19937 random(6);
  for (const Index depth : {1025, 2048, 2049, 4096})  // rows of 2048 and 4096 share lines of the cache
    for (const Index rows : {17, 63})
      for (const bool bias : {false, true}) {
        check_all_types(random, {rows, depth, 65, false, true, bias});
        check_all_types(random, {rows, depth, 33, false, false, bias});
      }
  check_case<float, float>(random, {400, 520, 350, true, false, true});  // sums wait, some rows at a time
  check_case<bfloat16, float>(random, {770, 40, 704, true, false});
  check_case<bfloat16, bfloat16>(random, {770, 40, 704, false, true, true});
}

TEST_CASE(
    "products whose operands are read where they lie, or not for their strides, agree with plain sums") {
  std::mt19937 random(7);
  for (const Index stride : {512, 640, 1024})
    for (const Index rows : {5, 13, 29, 43}) {
      check_all_types(random, {rows, 67, stride, false, false, true});
      check_all_types(random, {stride, 67, rows, true, false});
      check_all_types(random, {rows, stride, 67, false, true});
    }
}

TEST_CASE("a product over nothing leaves the bias, and empty results are left alone") {
  std::mt19937 random(4);
  check_all_types(random, {5, 0, 7, false, false, true});
  Case shape{5, 0, 7};
  shape.options.accumulate = true;
  check_all_types(random, shape);
  check_all_types(random, {0, 5, 7});
  check_all_types(random, {5, 7, 0});
}

TEST_CASE("a bias of f32 goes with a result of bf16") {
  std::mt19937 random(5);
  for (const Index rows : {7, 300}) {
    const Sample<bfloat16> a(random, rows, 96), b(random, 96, 112);
    const Sample<float> bias(random, 1, 112);
    Sample<bfloat16> c(random, rows, 112);
    Sample<float> wide(random, rows, 112);
    MatmulOptions options;
    options.bias = bias.values.data();
    kernels::matmul(a.view(), b.view(), c.mutable_view(), options);
    kernels::matmul(a.view(), b.view(), wide.mutable_view(), options);
    for (std::size_t i = 0; i < c.values.size(); ++i)
      REQUIRE(float{c.values[i]} == Approx(wide.values[i]).epsilon(0.01).margin(1e-4));
  }
}

TEST_CASE("batched products equal the products of their items") {
  std::mt19937 random(6);
  for (const Index count : {1, 3, 20})
    for (const Index size : {9, 80}) {
      const Sample<float> a(random, count * size, 32), b(random, 32, size, true);
      Sample<float> c(random, count * size, size), wanted = c;
      MatmulOptions options;
      options.accumulate = true;
      options.alpha = 0.5;
      auto item_a = a.view();
      auto item_c = c.mutable_view();
      item_a.rows = item_c.rows = size;
      kernels::batched_matmul(count, item_a, size * a.stride, b.view(), 0, item_c, size * c.stride, options);
      kernels::matmul(a.view(), b.view(), wanted.mutable_view(), options);
      for (std::size_t i = 0; i < c.values.size(); ++i)
        REQUIRE(c.values[i] == Approx(wanted.values[i]).epsilon(1e-5).margin(1e-5));
    }
}

TEST_CASE("operands that do not fit are refused") {
  std::mt19937 random(7);
  const Sample<float> a(random, 4, 5), b(random, 5, 6), b_wrong(random, 4, 6);
  const Sample<bfloat16> b_type(random, 5, 6);
  Sample<float> c(random, 4, 6);
  Sample<bfloat16> c_type(random, 4, 6);
  const auto product = [&](const kernels::MatrixView& right, const kernels::MutableMatrixView& result,
                           const MatmulOptions& options = {}) {
    kernels::matmul(a.view(), right, result, options);
  };
  CHECK_NOTHROW(product(b.view(), c.mutable_view()));
  CHECK_THROWS_AS(product(b_wrong.view(), c.mutable_view()), ShapeError);
  CHECK_THROWS_AS(product(b_type.view(), c.mutable_view()), ShapeError);
  CHECK_THROWS_AS(product(b.view(), c_type.mutable_view()), ShapeError);
  auto narrow = c.mutable_view();
  narrow.stride = 5;
  CHECK_THROWS_AS(product(b.view(), narrow), ShapeError);
  MatmulOptions scaled_bias;
  scaled_bias.bias = b.values.data();
  scaled_bias.alpha = 2;
  CHECK_THROWS_AS(product(b.view(), c.mutable_view(), scaled_bias), ShapeError);
  CHECK_THROWS_AS(kernels::batched_matmul(2, a.view(), 0, b.view(), 0, c.mutable_view(), 0), ShapeError);
}
