#include "ops/reduce.h"

#include "core/parallel.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

using Reduction = Var (*)(const Var&, int);
const std::vector<std::pair<std::string, Reduction>> kAll{
    {"sum", sum}, {"mean", mean}, {"max", max}, {"cumulative sum", cumulative_sum}};

GradientCheck check_of(Reduction f, const Shape& shape, int axis) {
  return {[f, axis](Tape&, const auto& in) { return f(in[0], axis); }, {random_tensor(shape, "x")}};
}

const bool kCasesAdded = [] {
  for (const auto& [name, f] : kAll)
    for (const int axis : {0, 1, 2, -1})
      GradientCase(join_text(name, " along ", axis), [f = f, axis] { return check_of(f, {3, 4, 5}, axis); });
  return true;
}();

}  // namespace

TEST_CASE("reductions equal naive loops along every axis") {
  Tape tape;
  const Tensor x = random_tensor({3, 4, 5}, "x");
  const Index steps[] = {20, 5, 1};
  for (int axis = 0; axis < 3; ++axis) {
    const Index size = x.shape()[axis], step = steps[axis];
    const Var input = tape.constant(x), sums = sum(input, axis), means = mean(input, axis),
              largest = max(input, axis), running = cumulative_sum(input, axis);
    CHECK(sums.shape()[axis] == 1);
    for (Index i = 0, result = 0; i < 60; ++i) {
      if (i / step % size != 0) continue;
      double total = 0, most = -HUGE_VAL;
      for (Index k = 0; k < size; ++k) {
        const double v = x.data<double>()[i + k * step];
        total += v;
        most = std::max(most, v);
        CHECK(running.value().data<double>()[i + k * step] == Approx(total));
      }
      CHECK(sums.value().data<double>()[result] == Approx(total));
      CHECK(means.value().data<double>()[result] == Approx(total / static_cast<double>(size)));
      CHECK(largest.value().data<double>()[result++] == most);
    }
  }
}

TEST_CASE("the gradient of max goes to the first of equal values") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({4}, DType::f32, std::vector<double>{1, 3, 3, 2}));
  tape.backward(max(x, 0));
  CHECK(tape.gradient(x).to_doubles() == std::vector<double>{0, 1, 0, 0});
}

TEST_CASE("zeros appended to the axis change no bit of a sum") {
  for (const DType type : {DType::f32, DType::f64})
    for (const Index length : {1, 15, 16, 17, 40}) {
      Tape tape;
      const Tensor x = random_tensor({2, length}, "x", type), longer = Tensor::zeros({2, length + 21}, type);
      longer.column_view(0, length).copy_from(x);
      CHECK(sum(tape.constant(x), 1).value().to_doubles() ==
            sum(tape.constant(longer), 1).value().to_doubles());
    }
}

TEST_CASE("reductions in f32 and bf16 stay near f64 at odd sizes") {
  for (const auto& [name, f] : kAll)
    for (const Shape& shape : {Shape{3, 70, 5}, Shape{2, 1, 131}, Shape{1, 9, 1}})
      for (int axis = 0; axis < 3; ++axis) {
        INFO(name << ' ' << shape << ' ' << axis);
        CHECK(distance_from_f64(DType::f32, check_of(f, shape, axis)) < 2e-6);
        CHECK(distance_from_f64(DType::bf16, check_of(f, shape, axis)) < 0.006);
      }
}

TEST_CASE("reductions have the same bits for any number of threads") {
  const int before = thread_count();
  std::vector<std::vector<std::vector<double>>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.emplace_back();
    for (const auto& [name, f] : kAll)
      for (int axis = 0; axis < 3; ++axis)
        results.back().push_back(
            detail::evaluate_in(DType::f32, DType::f32, check_of(f, {5, 63, 200}, axis))[0]);
  }
  set_thread_count(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("reductions refuse axes that are not there and empty ones without a value") {
  Tape tape;
  const Var x = tape.constant(Tensor({2, 0}, DType::f32));
  CHECK_THROWS_WITH(sum(x, 2), "sum: no axis 2 in (2,0)");
  CHECK_THROWS_AS(max(x, 1), ShapeError);
  CHECK_THROWS_AS(mean(x, 1), ShapeError);
  CHECK(sum(x, 1).value().to_doubles() == std::vector<double>{0, 0});
}
