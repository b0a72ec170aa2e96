// Stacks of long short-term memories in place of attention, against torch.nn.LSTM (tests/golden/lstm.py).
#include <cmath>

#include "config/error.h"
#include "models/stack.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace attnlab;

namespace {

Tensor tensor(const nlohmann::json& numbers, const Shape& shape, DType type) {
  return Tensor::from(shape, type, numbers.get<std::vector<double>>());
}

// Largest difference relative to the largest expected number.
double distance(const Tensor& got, const nlohmann::json& expected) {
  const auto numbers = got.to_doubles();
  double most = 0, difference = 0;
  REQUIRE(numbers.size() == expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    most = std::max(most, std::abs(expected[i].get<double>()));
    difference = std::max(difference, std::abs(numbers[i] - expected[i].get<double>()));
  }
  return difference / most;
}

}  // namespace

TEST_CASE("without skip, norm and MLP a stack of lstm layers is that of PyTorch, gradients too", "[golden]") {
  const auto data = golden("lstm.json");
  const Index D = data["width"];
  for (const auto& [type, allowed] : {std::pair{DType::f64, 1e-12}, std::pair{DType::f32, 1e-5}}) {
    INFO(to_string(type));
    StackSpec spec;
    spec.backbone = Backbone::lstm;
    spec.layers = static_cast<std::int64_t>(data["layers"].size());
    spec.skip.set_all(false);
    spec.norm.position = NormPosition::none;
    spec.mlp.on = false;
    spec.dropout.set_all(0);
    ParameterSet parameters;
    const Stack stack(Scope{parameters, spec.init, "stack"}, Layer::Plan{spec, nullptr, D, 8, true}, false);
    parameters.finalise(type, 1, [](const Parameter&) { return true; });
    const auto parameter = [&parameters](Index layer, const std::string& name) -> Parameter& {
      return *parameters.find("stack.layers." + std::to_string(layer) + ".lstm." + name);
    };
    for (Index i = 0; i < spec.layers; ++i)
      for (const char* name : {"input.weight", "input.bias", "recurrent.weight"}) {
        Parameter& own = parameter(i, name);
        own.value().copy_from(tensor(data["layers"][i][name], own.shape(), DType::f64));
      }
    parameters.refresh_compute();
    parameters.begin_window();
    Mask mask;
    mask.queries = mask.keys = Sequences::of_lengths(data["lengths"].get<std::vector<Index>>());
    const Shape shape{mask.queries.rows(), D};
    Tape tape;
    const Var x = tape.variable(tensor(data["x"], shape, type));
    const Var y = stack.forward(x, mask, {}, nullptr);
    CHECK(distance(y.value(), data["y"]) < allowed);
    tape.backward(y, tensor(data["dy"], shape, type));
    CHECK(distance(tape.gradient(x), data["dx"]) < allowed);
    for (Index i = 0; i < spec.layers; ++i)
      for (const auto& [name, expected] : data["layers"][i]["gradients"].items()) {
        INFO(i << ", " << name);
        CHECK(distance(parameter(i, name).gradient(), expected) < allowed);
      }
  }
}
