#include "ops/norm.h"

#include <cmath>

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase affine{
    "layer norm", [] {
      return GradientCheck{
          [](Tape&, const auto& in) { return layer_norm(in[0], in[1], in[2], 1e-5); },
          {random_tensor({70, 5}, "x"), random_tensor({5}, "gain"), random_tensor({5}, "bias")}};
    }};
const GradientCase plain{"layer norm without gain", [] {
                           return GradientCheck{
                               [](Tape&, const auto& in) { return layer_norm(in[0], {}, {}, 1e-5); },
                               {random_tensor({3, 5}, "x")}};
                         }};
}  // namespace

TEST_CASE("layer norm gives mean bias and deviation gain, in every type") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Tape tape;
    const Index D = 37;
    const Var y = layer_norm(tape.constant(random_tensor({3, D}, "x", type)),
                             tape.constant(Tensor::filled({D}, type, 2)),
                             tape.constant(Tensor::filled({D}, type, 1)), 1e-5);
    const auto values = y.value().to_doubles();
    double sum = 0, squares = 0;
    for (Index j = 0; j < D; ++j) sum += values[static_cast<std::size_t>(j)];
    for (Index j = 0; j < D; ++j) squares += std::pow(values[static_cast<std::size_t>(j)] - 1, 2);
    CHECK(sum / D == Approx(1).margin(0.01));
    CHECK(squares / D == Approx(4).epsilon(0.01));
  }
}
