#include "ops/checkpoint.h"

#include "core/pool.h"
#include "ops/activation.h"
#include "ops/dropout.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

constexpr Index kWidth = 16;

// A residual MLP with dropout that also reads `memory`, twice.
struct Layer {
  Parameter &in, &out;
  std::uint64_t stream;

  Var operator()(Tape& tape, const std::vector<Var>& inputs) const {
    const Var &x = inputs[0], &memory = inputs[1];
    const Var hidden = relu(linear(add(multiply(x, memory), memory), tape.leaf(in)));
    return residual_sum(x, linear(hidden, tape.leaf(out)), 1, {0.3, stream}, 0);
  }
};

struct Stack {
  ParameterSet set;
  std::vector<Layer> layers;

  Stack(DType type, int count, bool trains) {
    const Fill normal = [](std::span<double> v, Index first, const Random& random) {
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = 0.3 * random.normal(static_cast<std::uint64_t>(first) + i);
    };
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      auto& in = set.add(name + ".in", {3 * kWidth, kWidth}, normal);
      layers.push_back({in, set.add(name + ".out", {kWidth, 3 * kWidth}, normal), stream_name(name)});
    }
    set.finalise(type, 3, [trains](const Parameter&) { return trains; });
  }
  Var run(const Var& x, const Var& memory, bool recompute) const {
    Var y = x;
    for (const Layer& layer : layers)
      y = recompute ? checkpoint(layer, {y, memory}) : layer(x.tape(), {y, memory});
    return multiply(y, memory);  // a later consumer of the memory
  }
};

// Value and all gradients of a training step.
std::vector<std::vector<double>> step(DType type, bool recompute, bool inputs_want) {
  Stack stack(type, 3, true);
  Tape tape({.seed = 4, .step = 2});
  stack.set.begin_window();
  const Tensor a = random_tensor({9, kWidth}, "x", type), b = random_tensor({9, kWidth}, "memory", type);
  const Var x = inputs_want ? tape.variable(a) : tape.constant(a);
  const Var memory = inputs_want ? tape.variable(b) : tape.constant(b);
  const Var y = stack.run(x, memory, recompute);
  tape.backward(y, random_tensor(y.shape(), "dy", type));
  stack.set.finish_window();
  std::vector<std::vector<double>> results{y.value().to_doubles(), stack.set.gradients().to_doubles()};
  if (!inputs_want) return results;
  results.push_back(tape.gradient(x).to_doubles());
  results.push_back(tape.gradient(memory).to_doubles());
  return results;
}

const GradientCase kChecked{"checkpoint", [] {
                              static Stack stack(DType::f64, 2, true);
                              return GradientCheck{
                                  [](Tape&, const auto& in) { return stack.run(in[0], in[1], true); },
                                  {random_tensor({3, kWidth}, "x"), random_tensor({3, kWidth}, "memory")},
                                  &stack.set};
                            }};

std::size_t peak_of_step(bool recompute) {
  Stack stack(DType::f32, 8, true);
  const Tensor x = random_tensor({500, kWidth}, "x", DType::f32);
  Pool::global().reset_peak();
  const std::size_t before = Pool::global().counters().live_bytes;
  Tape tape;
  stack.set.begin_window();
  const Var y = stack.run(tape.variable(x), tape.constant(x), recompute);
  tape.backward(y, random_tensor(y.shape(), "dy", DType::f32));
  return Pool::global().counters().peak_bytes - before;
}

}  // namespace

TEST_CASE("recomputation changes no bit of values and gradients, with dropout") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (const bool inputs_want : {true, false}) {
      INFO(to_string(type) << (inputs_want ? ", inputs want gradients" : ", inputs are data"));
      const auto plain = step(type, false, inputs_want), recomputed = step(type, true, inputs_want);
      CHECK(plain == recomputed);
      for (const auto& result : plain)
        CHECK(std::any_of(result.begin(), result.end(), [](double v) { return v != 0; }));
    }
}

TEST_CASE("recomputation takes less memory") {
  const std::size_t plain = peak_of_step(false), recomputed = peak_of_step(true);
  INFO(plain << " bytes plain, " << recomputed << " recomputed");
  CHECK(2 * recomputed < plain);
}

TEST_CASE("blocks within blocks are recomputed too") {
  const Block inner = [](Tape&, const std::vector<Var>& in) { return tanh(square(in[0])); };
  const auto gradient = [&inner](int depth) {
    Block block = inner;
    for (int i = 0; i < depth; ++i)
      block = [block](Tape&, const std::vector<Var>& in) { return checkpoint(block, {tanh(in[0])}); };
    Tape tape;
    const Var x = tape.variable(random_tensor({7}, "x"));
    const Var y = block(tape, {x});
    tape.backward(y, random_tensor({7}, "dy"));
    return tape.gradient(x).to_doubles();
  };
  const auto unrolled = [&inner] {
    Tape tape;
    const Var x = tape.variable(random_tensor({7}, "x"));
    const Var y = inner(tape, {tanh(tanh(x))});
    tape.backward(y, random_tensor({7}, "dy"));
    return tape.gradient(x).to_doubles();
  };
  CHECK(gradient(2) == unrolled());
}

TEST_CASE("a block that returns its input passes the gradient on") {
  Tape tape;
  const Var x = tape.variable(random_tensor({3}, "x"));
  const Var y = checkpoint([](Tape&, const std::vector<Var>& in) { return in[0]; }, {x});
  const Var both = add(y, x);
  tape.backward(both, Tensor::filled({3}, DType::f64, 1));
  CHECK(tape.gradient(x).to_doubles() == std::vector<double>{2, 2, 2});
}

TEST_CASE("nothing is recorded where nothing trains") {
  const Tensor x = random_tensor({2, kWidth}, "x", DType::f32);
  const Stack frozen(DType::f32, 2, false), training(DType::f32, 2, true);
  Tape tape, inference({.training = false});
  frozen.run(tape.constant(x), tape.constant(x), true);
  CHECK(tape.node_count() == 0);
  training.run(inference.variable(x), inference.variable(x), true);
  CHECK(inference.node_count() == 0);
  training.run(tape.constant(x), tape.constant(x), true);
  CHECK(tape.node_count() == 3);  // two blocks and the product
}

TEST_CASE("a Var that does not come in through the inputs is refused") {
  Tape tape;
  const Var x = tape.variable(random_tensor({3}, "x")), hidden = square(x);
  const Block block = [hidden](Tape&, const std::vector<Var>& in) { return add(in[0], hidden); };
  CHECK_THROWS_WITH(checkpoint(block, {x}), "add: an input belongs to another tape");
  const Block constant = [&tape](Tape&, const std::vector<Var>& in) {
    return add(tape.constant(in[0].value()), in[0]);
  };
  const Var y = checkpoint(constant, {x});
  CHECK_THROWS_WITH(tape.backward(y, Tensor::filled({3}, DType::f64, 1)),
                    "add: an input belongs to another tape");
  CHECK_THROWS_AS(checkpoint(constant, {}), ShapeError);
}

TEST_CASE("the NaN finder names the module in the second run too") {
  const std::string path = "encoder.layers.1";
  Tape tape({.find_nan = true});
  const Var x = tape.variable(Tensor::from({1}, DType::f64, std::vector<double>{0}));
  const Var y = [&tape, &path, &x] {
    const Tape::Scope scope(tape, path);
    return checkpoint([](Tape&, const std::vector<Var>& in) { return sqrt(in[0]); }, {x});
  }();
  CHECK_THROWS_WITH(tape.backward(y, Tensor::filled({1}, DType::f64, 1)),
                    "NaN or infinity in the gradient of op 'sqrt' in encoder.layers.1, shape (1)");
}
