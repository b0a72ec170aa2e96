#include "ops/elementwise.h"

#include "core/parallel.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

using Binary = Var (*)(const Var&, const Var&);
using Unary = Var (*)(const Var&);

// Positive and away from zero, so that logarithms, roots and quotients are smooth.
Tensor positive(const Shape& shape, const std::string& name) {
  const Tensor x = random_tensor(shape, name);
  for (double& v : x.values<double>()) v = 0.3 + std::abs(v);
  return x;
}

GradientCheck binary(Binary f, const Shape& a, const Shape& b) {
  return {[f](Tape&, const auto& in) { return f(in[0], in[1]); }, {random_tensor(a, "a"), positive(b, "b")}};
}
GradientCheck unary(Unary f, const Shape& shape) {
  return {[f](Tape&, const auto& in) { return f(in[0]); }, {positive(shape, "x")}};
}

// Equal shapes; a row and a column; inner axes; a missing leading axis; a single number.
const std::vector<std::pair<Shape, Shape>> kPairs{
    {{3, 7}, {3, 7}}, {{1, 7}, {5, 1}}, {{2, 3, 1, 5}, {2, 1, 4, 5}}, {{2, 1, 3, 1, 4}, {2, 2, 1, 3, 1}},
    {{4, 3, 5}, {5}}, {{1}, {2, 37}},   {{2, 3, 5}, {2, 3, 1}}};
const std::vector<std::pair<std::string, Binary>> kBinary{
    {"add", add}, {"subtract", subtract}, {"multiply", multiply}, {"divide", divide}};
const std::vector<std::pair<std::string, Unary>> kUnary{
    {"negate", negate},
    {"exp", exp},
    {"log", log},
    {"sqrt", sqrt},
    {"square", square},
    {"reciprocal", reciprocal},
    {"tanh", tanh},
    {"sigmoid", sigmoid},
    {"scale", [](const Var& x) { return scale(x, -1.7); }},
    {"add number", [](const Var& x) { return add_number(x, 0.4); }},
    {"maximum", [](const Var& x) { return maximum(x, 0.8); }}};

const bool kCasesAdded = [] {
  for (const auto& [name, f] : kBinary)
    for (const auto& [a, b] : kPairs)
      GradientCase(join_text(name, ' ', a, ' ', b), [f = f, a = a, b = b] { return binary(f, a, b); });
  for (const auto& [name, f] : kUnary) GradientCase(name, [f = f] { return unary(f, {3, 13}); });
  return true;
}();

std::vector<double> values(const Var& x) { return x.value().to_doubles(); }

}  // namespace

TEST_CASE("arithmetic broadcasts axes of size 1") {
  Tape tape;
  const Var a = tape.constant(Tensor::from({2, 1}, DType::f32, std::vector<double>{6, 12}));
  const Var b = tape.constant(Tensor::from({3}, DType::f32, std::vector<double>{1, 2, 3}));
  CHECK(values(add(a, b)) == std::vector<double>{7, 8, 9, 13, 14, 15});
  CHECK(values(subtract(a, b)) == std::vector<double>{5, 4, 3, 11, 10, 9});
  CHECK(values(multiply(a, b)) == std::vector<double>{6, 12, 18, 12, 24, 36});
  CHECK(values(divide(a, b)) == std::vector<double>{6, 3, 2, 12, 6, 4});
  CHECK(divide(a, b).shape() == Shape{2, 3});
}

TEST_CASE("arithmetic equals a naive loop in four dimensions") {
  Tape tape;
  const Tensor a = random_tensor({2, 3, 1, 5}, "a"), b = random_tensor({2, 1, 4, 1}, "b");
  const auto y = values(multiply(tape.constant(a), tape.constant(b)));
  for (Index i = 0; i < 2 * 3 * 4 * 5; ++i) {
    const Index p = i / 60, q = i / 20 % 3, r = i / 5 % 4, s = i % 5;
    CHECK(y[static_cast<std::size_t>(i)] ==
          a.data<double>()[(p * 3 + q) * 5 + s] * b.data<double>()[p * 4 + r]);
  }
}

TEST_CASE("elementwise ops take column views") {
  Tape tape;
  const Tensor wide = random_tensor({5, 9}, "wide");
  const Var view = tape.constant(wide.column_view(2, 4)),
            copy = tape.constant(wide.column_view(2, 4).clone());
  CHECK(values(exp(view)) == values(exp(copy)));
  CHECK(values(add(view, view)) == values(add(copy, copy)));
}

TEST_CASE("shapes and types that do not fit are named") {
  Tape tape;
  const Var a = tape.constant(random_tensor({2, 3}, "a")), b = tape.constant(random_tensor({2, 4}, "b"));
  CHECK_THROWS_WITH(add(a, b),
                    "add: shapes (2,3) and (2,4) do not broadcast: sizes 3 and 4 differ and neither is 1");
  CHECK_THROWS_AS(multiply(a, tape.constant(random_tensor({2, 3}, "a", DType::f32))), ShapeError);
}

TEST_CASE("elementwise ops in f32 and bf16 stay near f64") {
  for (const auto& [name, f] : kBinary)
    for (const auto& [a, b] : kPairs) {
      INFO(name << ' ' << a << ' ' << b);
      CHECK(distance_from_f64(DType::f32, binary(f, a, b)) < 1e-6);
      CHECK(distance_from_f64(DType::bf16, binary(f, a, b)) < 0.012);
    }
  for (const auto& [name, f] : kUnary) {
    INFO(name);
    CHECK(distance_from_f64(DType::f32, unary(f, {3, 13})) < 1e-6);
    CHECK(distance_from_f64(DType::bf16, unary(f, {3, 13})) < 0.012);
  }
}

TEST_CASE("elementwise gradients have the same bits for any number of threads") {
  const int before = thread_count();
  std::vector<std::vector<std::vector<double>>> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    results.push_back(detail::evaluate_in(DType::f32, DType::f32, binary(divide, {37, 1, 300}, {11, 300})));
  }
  set_thread_count(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("NaN passes through and extremes stay finite or become zero or infinity") {
  Tape tape;
  const double inf = HUGE_VAL;
  const Var x = tape.constant(Tensor::from({4}, DType::f32, std::vector<double>{NAN, -inf, inf, 100}));
  const auto e = values(exp(x)), t = values(tanh(x)), s = values(sigmoid(x)), m = values(maximum(x, 0));
  CHECK((std::isnan(e[0]) && std::isnan(t[0]) && std::isnan(s[0]) && std::isnan(m[0])));
  CHECK((e[1] == 0 && e[2] == inf && e[3] == inf));
  CHECK((t[1] == -1 && t[2] == 1 && s[1] == Approx(0).margin(1e-30) && s[2] == 1 && m[1] == 0));
}
