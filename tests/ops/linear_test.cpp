#include "ops/linear.h"

#include "ops/dropout.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

const GradientCase with_bias{
    "linear", [] {
      return GradientCheck{[](Tape&, const auto& in) { return linear(in[0], in[1], in[2]); },
                           {random_tensor({5, 3}, "x"), random_tensor({4, 3}, "w"), random_tensor({4}, "b")}};
    }};

const GradientCase without_bias{"linear without bias", [] {
                                  return GradientCheck{
                                      [](Tape&, const auto& in) { return linear(in[0], in[1]); },
                                      {random_tensor({5, 3}, "x"), random_tensor({4, 3}, "w")}};
                                }};

// Two maps of which only the second and third blocks are used.
const GradientCase group{
    "linear group", [] {
      return GradientCheck{
          [](Tape&, const auto& in) {
            const auto parts = linear_group(in[0], {in[1], in[2], in[3]}, {in[4], in[5], in[6]});
            return residual_sum(parts[1], parts[2], 1, {}, 0);
          },
          {random_tensor({5, 3}, "x"), random_tensor({2, 3}, "q"), random_tensor({4, 3}, "k"),
           random_tensor({4, 3}, "v"), random_tensor({2}, "bq"), random_tensor({4}, "bk"),
           random_tensor({4}, "bv")}};
    }};

}  // namespace

TEST_CASE("neighbouring weights as one product equal separate ones, values and gradients") {
  ParameterSet set;
  const Fill fill = [](std::span<double> v, Index first, const Random& random) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = random.normal(static_cast<std::uint64_t>(first) + i);
  };
  set.begin_group();
  Parameter& query = set.add("query", {3, 4}, fill);
  Parameter& key = set.add("key", {2, 4}, fill);
  set.end_group();
  set.finalise(DType::f64, 1, [](const Parameter&) { return true; });
  const Tensor x = random_tensor({6, 4}, "rows");
  const auto gradients = [&](bool grouped) {
    Tape tape;
    set.begin_window();
    const Var in = tape.variable(x), wq = tape.leaf(query), wk = tape.leaf(key);
    const auto parts =
        grouped ? linear_group(in, {wq, wk}) : std::vector<Var>{linear(in, wq), linear(in, wk)};
    const Var sum =
        residual_sum(linear(parts[0], tape.constant(random_tensor({2, 3}, "down"))), parts[1], 1, {}, 0);
    tape.backward(sum, random_tensor({6, 2}, "dy"));
    auto all = set.gradients().to_doubles();
    for (const double v : tape.gradient(in).to_doubles()) all.push_back(v);
    for (const double v : sum.value().to_doubles()) all.push_back(v);
    return all;
  };
  const auto one = gradients(true), two = gradients(false);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == Approx(two[i]).epsilon(1e-12).margin(1e-12));
}

TEST_CASE("linear names the shapes that do not fit") {
  Tape tape;
  CHECK_THROWS_WITH(
      linear(tape.constant(random_tensor({2, 3}, "x")), tape.constant(random_tensor({4, 5}, "w"))),
      "linear: rows (2,3) and a weight [out, in] of (4,5)");
}
