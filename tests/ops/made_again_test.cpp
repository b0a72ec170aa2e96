// Results of norms are not kept for backward but made again: the memory is free in between, the bits are
// those of kept ones.
#include "core/pool.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "ops/linear_relu.h"
#include "ops/norm.h"
#include "ops/rms_norm.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

using Norm = Var (*)(const Var&, const Var&, const Var&, double);
constexpr Norm kNorms[] = {layer_norm, rms_norm};
constexpr Index kRows = 70, kWidth = 256, kOut = 32;

struct Inputs {
  explicit Inputs(Tape& tape, DType type)
      : x(tape.variable(random_tensor({kRows, kWidth}, "x", type))),
        gain(tape.variable(random_tensor({kWidth}, "gain", type))),
        bias(tape.variable(random_tensor({kWidth}, "bias", type))),
        weight(tape.variable(random_tensor({kOut, kWidth}, "weight", type))),
        other(tape.variable(random_tensor({kOut, kWidth}, "other", type))) {}
  Var x, gain, bias, weight, other;
};

// Two readers of one normalised value: the first that backward meets makes it, the second finds it.
std::vector<Tensor> gradients(Norm norm, DType type, bool again) {
  Tape tape;
  const Inputs in(tape, type);
  Var y = norm(in.x, in.gain, in.bias, 1e-5);
  if (!again) y = y.made_again_by([value = y.value()] { return value; });
  const Var sum = add(linear(y, in.weight, {}), linear_relu(y, in.other, {}, {}, 0));
  tape.backward(sum, random_tensor(sum.shape(), "gradient", type));
  return {tape.gradient(in.x), tape.gradient(in.weight), tape.gradient(in.other), tape.gradient(in.gain)};
}

std::size_t live() { return Pool::global().counters().live_bytes; }

}  // namespace

TEST_CASE("gradients through norms that are made again have the bits of kept ones") {
  for (const Norm norm : kNorms)
    for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
      const auto made = gradients(norm, type, true), kept = gradients(norm, type, false);
      for (std::size_t i = 0; i < made.size(); ++i) {
        CAPTURE(to_string(type), i);
        CHECK(made[i].to_doubles() == kept[i].to_doubles());
      }
    }
}

TEST_CASE("no result of a norm stays in memory for backward") {
  for (const Norm norm : kNorms) {
    Tape tape;
    const Inputs in(tape, DType::f32);
    const std::size_t before = live();
    const Var out = linear(norm(in.x, in.gain, in.bias, 1e-5), in.weight, {});
    CHECK(live() - before < kRows * kWidth * sizeof(float));
    CHECK(live() - before >= kRows * kOut * sizeof(float));
  }
}
