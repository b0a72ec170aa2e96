// Low-rank adapters in a whole model: where they are, what they start as, and what merging leaves of them.
#include "nn/adapter.h"

#include <cmath>

#include "config/error.h"
#include "models/transformer.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

struct Adapted {
  Adapted(const AdapterSpec& adapters, DType type, bool gated = false) {
    ModelSpec spec;
    spec.width = 16;
    spec.stack.layers = 2;
    spec.stack.heads = 4;
    spec.stack.feed_forward = 12;
    spec.stack.mlp.gated = gated;
    spec.tie = Tie::none;
    spec.adapters = adapters;
    spec.encoder = spec.decoder = spec.stack;
    model.emplace(parameters, spec, VocabularySizes{11, 11, true});
    parameters.finalise(type, 3, [](const Parameter&) { return true; });
  }
  std::vector<double> logits() const {
    Tape tape({.training = false});
    const TokenRows source{{1, 5, 3, 9, 4, 1, 2}, Sequences::of_lengths({5, 2})};
    const TokenRows target{{1, 7, 8, 1, 6, 10}, Sequences::of_lengths({3, 3})};
    return model->logits(tape, {source, target, {}}).value().to_doubles();
  }
  void move_adapters() {  // as training would: B is zero no longer
    for (const auto& parameter : parameters.all()) {
      if (!parameter->name().ends_with(".adapter.b")) continue;
      const Random random(5, stream_name(parameter->name()));
      std::vector<double> numbers(static_cast<std::size_t>(parameter->shape().count()));
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.3 * random.normal(i);
      parameter->value().copy_from(Tensor::from(parameter->shape(), DType::f64, numbers));
    }
    parameters.refresh_compute();
  }
  ParameterSet parameters;
  std::optional<Transformer> model;
};

AdapterSpec adapters(std::vector<std::string> targets) {
  AdapterSpec spec;
  spec.rank = 3;
  spec.alpha = 6;
  spec.targets = std::move(targets);
  return spec;
}

// Largest difference relative to the largest number.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, difference = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / most;
}

}  // namespace

TEST_CASE("an adapted model starts as the model that it adapts, with the same weights") {
  const Adapted plain({}, DType::f64), adapted(adapters({"*"}), DType::f64);
  CHECK(adapted.logits() == plain.logits());
  for (const auto& parameter : plain.parameters.all())
    CHECK(adapted.parameters.find(parameter->name())->value().to_doubles() ==
          parameter->value().to_doubles());
}

TEST_CASE("adapters stand beside the maps that the targets name, and nowhere else") {
  const auto names = [](const Adapted& adapted) {
    std::vector<std::string> found;
    for (const auto& parameter : adapted.parameters.all())
      if (parameter->name().ends_with(".adapter.a")) found.push_back(parameter->name());
    return found;
  };
  CHECK(names(Adapted(adapters({"*attention.query", "*attention.value"}), DType::f32)).size() == 2 * 2 * 3);
  CHECK(names(Adapted(adapters({"decoder.layers.1.mlp.*"}), DType::f32)) ==
        std::vector<std::string>{"decoder.layers.1.mlp.down.adapter.a", "decoder.layers.1.mlp.up.adapter.a"});
  CHECK(names(Adapted(adapters({"*"}), DType::f32, true)).size() == 2 * (4 + 3) + 2 * (8 + 3));
  const Adapted one(adapters({"decoder.layers.0.mlp.up"}), DType::f32);
  CHECK(one.parameters.find("decoder.layers.0.mlp.up.adapter.a")->shape() == Shape{3, 16});
  CHECK(one.parameters.find("decoder.layers.0.mlp.up.adapter.b")->shape() == Shape{12, 3});
  CHECK_THROWS_AS(Adapted(adapters({"*.mlp.up", "*.mlp.gate"}), DType::f32), ConfigError);  // no gate here
}

TEST_CASE("a merged model says what it said before, and then needs its adapters no longer") {
  for (const bool gated : {false, true})
    for (const auto& [type, allowed] : {std::pair{DType::f64, 1e-10}, std::pair{DType::f32, 1e-5}}) {
      INFO((gated ? "gated, " : "") << to_string(type));
      const AdapterSpec spec = adapters({"*"});
      Adapted adapted(spec, type, gated);
      const auto start = adapted.logits();
      adapted.move_adapters();
      const auto moved = adapted.logits();
      CHECK(distance(moved, start) > 0.1);
      CHECK(merge_adapters(spec, adapted.parameters) == 2 * (gated ? 7 : 6) + 2 * (gated ? 11 : 10));
      CHECK(distance(adapted.logits(), moved) < allowed);
      const Adapted plain({}, type, gated);
      for (const auto& parameter : plain.parameters.all())
        parameter->value().copy_from(adapted.parameters.find(parameter->name())->value());
      CHECK(distance(plain.logits(), moved) < allowed);
    }
}
