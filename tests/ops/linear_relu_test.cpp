#include "ops/linear_relu.h"

#include "ops/activation.h"
#include "ops/linear.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

const Dropout kDropout{0.3, stream_name("mlp")};

GradientCheck problem(Index rows, Index in, Index out, bool bias, bool fused, Dropout dropout_of = kDropout) {
  std::vector<Tensor> inputs{random_tensor({rows, in}, "x"), random_tensor({out, in}, "w")};
  if (bias) inputs.push_back(random_tensor({out}, "b"));
  return {[fused, dropout_of](Tape&, const auto& v) {
            const Var b = v.size() > 2 ? v[2] : Var();
            return fused ? linear_relu(v[0], v[1], b, dropout_of, 7)
                         : dropout(relu(linear(v[0], v[1], b)), dropout_of, 7);
          },
          inputs};
}

const GradientCase with_bias{"linear and relu", [] { return problem(5, 3, 17, true, true); }};
const GradientCase without_bias{"linear and relu without bias",
                                [] { return problem(5, 3, 17, false, true, {}); }};

}  // namespace

TEST_CASE("linear_relu equals its three ops, values and gradients") {
  for (const DType type : {DType::f64, DType::f32, DType::bf16})
    for (const Index size : {1, 3, 17, 63, 65})
      for (const bool bias : {true, false}) {
        INFO(to_string(type) << ", size " << size << ", bias " << bias);
        const double allowed = type == DType::bf16 ? 0x1p-7 : type == DType::f32 ? 1e-6 : 1e-14;
        CHECK(distance_of_twins(type, problem(size, 65, size, bias, true),
                                problem(size, 65, size, bias, false)) <= allowed);
      }
}

TEST_CASE("linear_relu keeps NaN, and drops it where the mask says") {
  Tape tape;
  const Tensor x = Tensor::filled({1, 1}, DType::f32, std::numeric_limits<double>::quiet_NaN());
  const Tensor w = Tensor::filled({200, 1}, DType::f32, 1);
  const auto y = linear_relu(tape.constant(x), tape.constant(w), {}, kDropout, 0).value().to_doubles();
  const auto kept = std::count_if(y.begin(), y.end(), [](double v) { return std::isnan(v); });
  const auto dropped = std::count(y.begin(), y.end(), 0.0);
  CHECK(kept + dropped == 200);
  CHECK(kept > 100);
  CHECK(dropped > 20);
}

TEST_CASE("linear_relu does not change a gradient that somebody else holds") {
  Tape tape;
  const Var x = tape.variable(random_tensor({4, 3}, "x"));
  const Var y = linear_relu(x, tape.constant(random_tensor({5, 3}, "w")), {}, {}, 0);
  const Tensor dy = Tensor::filled({4, 5}, DType::f64, 1);
  tape.backward(y, dy);
  for (const double v : dy.to_doubles()) CHECK(v == 1);
}

TEST_CASE("linear_relu names the shapes that do not fit") {
  Tape tape;
  CHECK_THROWS_AS(linear_relu(tape.constant(random_tensor({2, 3}, "x")),
                              tape.constant(random_tensor({4, 5}, "w")), {}, {}, 0),
                  ShapeError);
}
