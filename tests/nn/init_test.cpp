#include "nn/init.h"

#include <cmath>

#include "nn/affine.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

// Of the weights of a map 300 -> 200 under a rule.
Moments moments_of(const InitSpec& init, double gain) {
  ParameterSet parameters;
  const Affine map({parameters, init, "map"}, 300, 200, true, gain);
  parameters.finalise(DType::f64, 1, [](const Parameter&) { return true; });
  Moments result;
  const auto numbers = map.weight().value().to_doubles();
  for (const double x : numbers) {
    result.mean += x / static_cast<double>(numbers.size());
    result.largest = std::max(result.largest, std::abs(x));
  }
  for (const double x : numbers)
    result.deviation += (x - result.mean) * (x - result.mean) / static_cast<double>(numbers.size());
  result.deviation = std::sqrt(result.deviation);
  return result;
}
}  // namespace

TEST_CASE("initial weights have the deviation of their rule, times the gain") {
  for (const double gain : {1.0, 0.5}) {
    InitSpec init;
    const double xavier = std::sqrt(2.0 / (300 + 200));
    init.rule = InitRule::xavier_uniform;
    Moments got = moments_of(init, gain);
    CHECK(got.deviation == Approx(gain * xavier).epsilon(0.01));
    CHECK(got.largest == Approx(gain * xavier * std::sqrt(3.0)).epsilon(0.01));
    CHECK(got.largest <= gain * xavier * std::sqrt(3.0));
    CHECK(std::abs(got.mean) < 0.01 * got.deviation * 3);
    init.rule = InitRule::xavier_normal;
    got = moments_of(init, gain);
    CHECK(got.deviation == Approx(gain * xavier).epsilon(0.01));
    CHECK(got.largest > gain * xavier * 3.5);  // among 60,000 normal numbers
    init.rule = InitRule::normal;
    init.standard_deviation = 0.05;
    CHECK(moments_of(init, gain).deviation == Approx(gain * 0.05).epsilon(0.01));
    init.rule = InitRule::normal_by_depth;
    CHECK(moments_of(init, gain).deviation == Approx(gain * 0.05).epsilon(0.01));
  }
}

TEST_CASE("scaled by depth, what adds to the residual stream starts smaller, the rest as ever") {
  InitSpec init;
  CHECK(init.residual_gain(24) == 1);
  init.rule = InitRule::normal_by_depth;
  CHECK(init.residual_gain(24) == Approx(1 / std::sqrt(24.0)));
  CHECK(init.residual_gain(0) == 1);
}

TEST_CASE("a parameter starts from the same numbers whatever else a model has") {
  const InitSpec init;
  ParameterSet alone, beside;
  const Affine one({alone, init, "map"}, 5, 7, true, 1);
  const Affine other({beside, init, "other"}, 5, 7, false, 1), same({beside, init, "map"}, 5, 7, true, 1);
  for (ParameterSet* set : {&alone, &beside})
    set->finalise(DType::f32, 9, [](const Parameter&) { return true; });
  CHECK(one.weight().value().to_doubles() == same.weight().value().to_doubles());
  CHECK(one.weight().value().to_doubles() != other.weight().value().to_doubles());
  for (const double number : one.bias()->value().to_doubles()) CHECK(number == 0);
}

TEST_CASE("a group of maps is one product with the values of the single ones") {
  const InitSpec init;
  ParameterSet parameters;
  const auto maps = affine_group({parameters, init, "attention"}, 6, true,
                                 {{"query", 4, 1}, {"key", 4, 0.5}, {"value", 8, 1}});
  parameters.finalise(DType::f64, 2, [](const Parameter&) { return true; });
  for (const Affine& map : maps) map.bias()->value().fill(0.25);
  Tape tape;
  const Var x = tape.constant(random_tensor({5, 6}, "x"));
  const auto together = apply_group(x, {&maps[0], &maps[1], &maps[2]});
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const auto wanted = maps[i](x).value().to_doubles(), got = together[i].value().to_doubles();
    REQUIRE(got.size() == wanted.size());
    for (std::size_t j = 0; j < got.size(); ++j) CHECK(got[j] == Approx(wanted[j]).epsilon(1e-12));
  }
}

TEST_CASE("an orthogonal fill has orthonormal rows or columns, in pieces too") {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{3, 7}, {7, 3}, {4, 4}}) {
    const Random random(5, 1);
    std::vector<double> whole(static_cast<std::size_t>(rows * columns)), piece(2);
    const Fill fill = orthogonal_fill(rows, columns, 1.5);
    fill(whole, 0, random);
    fill(piece, 5, random);
    CHECK(piece == std::vector<double>{whole[5], whole[6]});
    const bool wide = rows <= columns;
    for (Index a = 0; a < std::min(rows, columns); ++a)
      for (Index b = 0; b <= a; ++b) {
        double dot = 0;
        for (Index k = 0; k < std::max(rows, columns); ++k)
          dot += whole[static_cast<std::size_t>(wide ? a * columns + k : k * columns + a)] *
                 whole[static_cast<std::size_t>(wide ? b * columns + k : k * columns + b)];
        CHECK(dot == Approx(a == b ? 1.5 * 1.5 : 0).margin(1e-12));
      }
  }
}
