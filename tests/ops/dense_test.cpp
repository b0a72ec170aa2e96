#include "ops/dense.h"

#include "core/parallel.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

struct Product {
  Shape a, b;  // leading axes of the operands
  Index m, k, n;
};
const std::vector<Product> kProducts{{{2, 3}, {2, 3}, 4, 5, 3}, {{2, 3}, {1, 3}, 1, 5, 2},
                                     {{2, 1}, {2, 4}, 3, 2, 5}, {{2, 3}, {}, 3, 4, 2},
                                     {{}, {3}, 3, 4, 5},        {{}, {}, 5, 3, 7}};

Shape with(Shape shape, Index rows, Index columns, bool transpose) {
  shape.append(transpose ? columns : rows);
  shape.append(transpose ? rows : columns);
  return shape;
}

GradientCheck check_of(const Product& p, bool transpose_a, bool transpose_b) {
  return {[transpose_a, transpose_b](Tape&, const auto& in) {
            return batched_matmul(in[0], in[1], transpose_a, transpose_b);
          },
          {random_tensor(with(p.a, p.m, p.k, transpose_a), "a"),
           random_tensor(with(p.b, p.k, p.n, transpose_b), "b")}};
}

template <class F>
void each(const F& f) {
  for (const Product& p : kProducts)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) f(p, transpose_a, transpose_b);
}

const bool kCasesAdded = [] {
  each([](const Product& p, bool transpose_a, bool transpose_b) {
    GradientCase(join_text("batched matmul ", p.a, ' ', p.b, ' ', transpose_a, transpose_b),
                 [p, transpose_a, transpose_b] { return check_of(p, transpose_a, transpose_b); });
  });
  return true;
}();

}  // namespace

TEST_CASE("batched matmul equals a naive loop") {
  Tape tape;
  const Tensor a = random_tensor({2, 3, 4, 5}, "a"), b = random_tensor({3, 2, 5}, "b");
  const Var y = batched_matmul(tape.constant(a), tape.constant(b), false, true);
  REQUIRE(y.shape() == Shape{2, 3, 4, 2});
  for (Index i = 0; i < y.shape().count(); ++i) {
    const Index item = i / 8, m = i / 2 % 4, n = i % 2;
    double sum = 0;
    for (Index k = 0; k < 5; ++k)
      sum += a.data<double>()[(item * 4 + m) * 5 + k] * b.data<double>()[(item % 3 * 2 + n) * 5 + k];
    CHECK(y.value().data<double>()[i] == Approx(sum));
  }
}

TEST_CASE("in f64 neither other items nor zeros appended to k change a bit") {
  Tape tape;
  const Tensor a = Tensor::zeros({3, 7, 9}, DType::f64), b = random_tensor({3, 9, 6}, "b");
  const Tensor short_a = random_tensor({1, 7, 5}, "a"), short_b({1, 5, 6}, DType::f64);
  for (Index i = 0; i < 7; ++i)
    for (Index k = 0; k < 5; ++k) a.data<double>()[(7 + i) * 9 + k] = short_a.data<double>()[i * 5 + k];
  for (Index i = 0; i < 30; ++i) short_b.data<double>()[i] = b.data<double>()[54 + i];
  const auto whole = batched_matmul(tape.constant(a), tape.constant(b)).value().to_doubles();
  const auto alone = batched_matmul(tape.constant(short_a), tape.constant(short_b)).value().to_doubles();
  CHECK(std::vector<double>(whole.begin() + 42, whole.begin() + 84) == alone);
}

TEST_CASE("batched matmul in f32 and bf16 stays near f64") {
  each([](const Product& p, bool transpose_a, bool transpose_b) {
    INFO(p.a << ' ' << p.b << ' ' << transpose_a << transpose_b);
    CHECK(distance_from_f64(DType::f32, check_of(p, transpose_a, transpose_b)) < 1e-6);
    CHECK(distance_from_f64(DType::bf16, check_of(p, transpose_a, transpose_b)) < 0.008);
  });
  const Product large{{2, 3}, {3}, 65, 37, 129};
  CHECK(distance_from_f64(DType::f32, check_of(large, false, true)) < 2e-6);
  CHECK(distance_from_f64(DType::bf16, check_of(large, false, true)) < 0.008);
}

TEST_CASE("batched matmul has the same bits for any number of threads") {
  const int before = thread_count();
  std::vector<std::vector<std::vector<double>>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.push_back(
        detail::evaluate_in(DType::f32, DType::f32, check_of({{5, 2}, {2}, 33, 70, 41}, false, false)));
  }
  set_thread_count(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("batched matmul takes empty products and refuses what does not fit") {
  Tape tape;
  const Var empty = batched_matmul(tape.constant(Tensor({2, 3, 0}, DType::f32)),
                                   tape.constant(Tensor({2, 0, 4}, DType::f32)));
  CHECK(empty.value().to_doubles() == std::vector<double>(24, 0.0));
  const Var a = tape.constant(random_tensor({2, 3, 4}, "a"));
  CHECK_THROWS_WITH(batched_matmul(a, a), "batched matmul: (2,3,4) x (2,3,4): inner sizes 4 and 3 differ");
  CHECK_THROWS_AS(batched_matmul(a, tape.constant(random_tensor({3, 4, 2}, "b"))), ShapeError);
  CHECK_THROWS_AS(batched_matmul(a, tape.constant(random_tensor({4}, "b"))), ShapeError);
}
