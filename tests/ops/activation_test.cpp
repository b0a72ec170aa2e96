#include "ops/activation.h"

#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

const std::vector<std::pair<std::string, Activation>> kAll{{"relu", Activation::relu},
                                                           {"gelu", Activation::gelu},
                                                           {"gelu by tanh", Activation::gelu_tanh},
                                                           {"silu", Activation::silu}};

GradientCheck check_of(Activation activation, const Shape& shape) {
  const Tensor x = random_tensor(shape, "x");
  for (double& v : x.values<double>()) v = 2 * v + (v < 0 ? -0.01 : 0.01);
  return {[activation](Tape&, const auto& in) { return activate(in[0], activation); }, {x}};
}

const bool kCasesAdded = [] {
  for (const auto& [name, activation] : kAll)
    GradientCase(name, [activation = activation] { return check_of(activation, {5, 11}); });
  return true;
}();

double at(Activation activation, double x, DType type) {
  Tape tape;
  return activate(tape.constant(Tensor::filled({1}, type, x)), activation).value().to_doubles()[0];
}

double reference(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      break;
  }
  return x / (1 + std::exp(-x));
}

}  // namespace

TEST_CASE("activations equal their formulas, in the tails too") {
  for (const auto& [name, activation] : kAll)
    for (double x = -9; x < 9; x += 0.0625) {
      INFO(name << " at " << x);
      const double expected = reference(activation, x);
      CHECK(at(activation, x, DType::f64) == Approx(expected).margin(1e-12));
      CHECK(at(activation, x, DType::f32) == Approx(expected).epsilon(1e-5).margin(1e-10));
    }
  for (const Activation activation : {Activation::gelu, Activation::silu})
    CHECK(at(activation, -5, DType::f32) == Approx(reference(activation, -5)).epsilon(3e-6));
}

TEST_CASE("activations in f32 and bf16 stay near f64 at odd sizes") {
  for (const auto& [name, activation] : kAll)
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 7}, Shape{5, 257}}) {
      INFO(name << ' ' << shape);
      CHECK(distance_from_f64(DType::f32, check_of(activation, shape)) < 1e-6);
      CHECK(distance_from_f64(DType::bf16, check_of(activation, shape)) < 0.008);
    }
}

TEST_CASE("activations pass NaN on and are exact at infinity") {
  for (const auto& [name, activation] : kAll) {
    INFO(name);
    CHECK(std::isnan(at(activation, NAN, DType::f32)));
    CHECK(at(activation, 1e30, DType::f32) == Approx(1e30));
    CHECK(at(activation, -1e3, DType::f32) == Approx(0).margin(1e-30));
  }
}
