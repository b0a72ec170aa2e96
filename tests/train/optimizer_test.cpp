#include "train/optimizer.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config/registry.h"
#include "config/spec.h"
#include "core/parallel.h"
#include "support/catch.h"
#include "train/clip.h"

using namespace attnlab;
using nlohmann::json;

namespace {

Fill no_fill() {
  return [](std::span<double>, Index, const Random&) {};
}
Fill noise() {
  return [](std::span<double> values, Index first, const Random& random) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = random.normal(static_cast<std::uint64_t>(first) + i);
  };
}

// A spec of {kind: …, keys} given as JSON, which is YAML.
struct Holder {
  std::shared_ptr<OptimizerSpec> optimizer;
  void fields(Fields& f) { f.kind("optimizer", optimizer, "the optimiser"); }
};
std::unique_ptr<Optimizer> make_optimizer(const json& spec, ParameterSet& parameters) {
  Holder holder;
  read_spec(Tree::parse(json{{"optimizer", spec}}.dump()), holder);
  return holder.optimizer->make(parameters);
}

void put(const Tensor& tensor, const json& values) {
  const auto numbers = values.get<std::vector<double>>();
  tensor.copy_from(Tensor::from(tensor.shape(), tensor.type(), numbers));
}

double largest_difference(const Tensor& tensor, const json& expected) {
  double worst = 0;
  const auto actual = tensor.to_doubles();
  for (std::size_t i = 0; i < actual.size(); ++i)
    worst = std::max(worst, std::abs(actual[i] - expected[i].get<double>()));
  return worst;
}

// Two parameters of odd sizes, larger than one piece, with a frozen one between.
std::unique_ptr<ParameterSet> odd_parameters(DType type) {
  auto parameters = std::make_unique<ParameterSet>();
  parameters->add("a", {301, 97}, noise());
  parameters->add("frozen", {5, 7}, noise());
  parameters->add("b", {37}, noise(), false);
  parameters->finalise(type, 5, [](const Parameter& p) { return p.name() != "frozen"; });
  return parameters;
}

void fill_gradients(const ParameterSet& parameters, std::uint64_t step) {
  for (const auto& parameter : parameters.all()) {
    if (!parameter->trainable()) continue;
    std::vector<double> numbers(static_cast<std::size_t>(parameter->shape().count()));
    noise()(numbers, 0, Random(1, stream_name(parameter->name()), step));
    parameter->gradient().copy_from(Tensor::from(parameter->shape(), parameter->gradient().type(), numbers));
  }
}

}  // namespace

TEST_CASE("optimisers follow PyTorch") {
  std::ifstream in(ATTNLAB_SOURCE_DIR "/tests/golden/optimizers.json");
  const json cases = json::parse(in);
  REQUIRE(cases.size() == 5);
  for (const auto& [name, golden] : cases.items()) {
    for (const DType type : {DType::f64, DType::f32}) {
      INFO(name << " in " << to_string(type));
      ParameterSet parameters;
      const auto& matrix = parameters.add("matrix", {3, 5}, no_fill());
      const auto& bias = parameters.add("bias", {4}, no_fill(), false);
      parameters.finalise(type, 1, [](const Parameter&) { return true; });
      put(matrix.value(), golden["start"]["matrix"]);
      put(bias.value(), golden["start"]["bias"]);
      const auto optimizer = make_optimizer(golden["spec"], parameters);
      for (const auto& step : golden["steps"]) {
        put(matrix.gradient(), step["gradients"]["matrix"]);
        put(bias.gradient(), step["gradients"]["bias"]);
        optimizer->step(step["rate"]);
        const double bound = type == DType::f64 ? 1e-14 : 3e-6;
        CHECK(largest_difference(matrix.value(), step["values"]["matrix"]) < bound);
        CHECK(largest_difference(bias.value(), step["values"]["bias"]) < bound);
      }
      CHECK(optimizer->updates() == 10);
    }
  }
}

TEST_CASE("an optimiser reads scaled gradients and leaves frozen parameters and gaps alone") {
  for (const char* kind : {"adamw", "sgd"}) {
    auto plain = odd_parameters(DType::f64), scaled = odd_parameters(DType::f64);
    const auto before = plain->find("frozen")->value().to_doubles();
    const auto first = make_optimizer({{"kind", kind}}, *plain),
               second = make_optimizer({{"kind", kind}}, *scaled);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      fill_gradients(*plain, step);
      fill_gradients(*scaled, step);
      scaled->gradients().copy_from([&] {
        auto numbers = scaled->gradients().to_doubles();
        for (double& x : numbers) x *= 4;
        return Tensor::from(scaled->gradients().shape(), DType::f64, numbers);
      }());
      first->step(0.1);
      second->step(0.1, 0.25);
    }
    CHECK(plain->values().to_doubles() == scaled->values().to_doubles());
    CHECK(plain->find("frozen")->value().to_doubles() == before);
    const auto* bias = plain->find("b");
    double used = 0, all = 0;
    for (const auto& parameter : plain->all())
      for (const double x : parameter->value().to_doubles()) used += std::abs(x);
    for (const double x : plain->values().to_doubles()) all += std::abs(x);
    CHECK(all == Approx(used).epsilon(1e-12));
    CHECK(bias->value().count() == 37);
  }
}

TEST_CASE("an optimiser writes the bf16 working copy in the same pass") {
  auto parameters = odd_parameters(DType::bf16);
  const auto optimizer = make_optimizer("adamw", *parameters);
  fill_gradients(*parameters, 1);
  const auto before = parameters->find("a")->compute().to_doubles();
  optimizer->step(0.1);
  for (const auto& parameter : parameters->all())
    CHECK(parameter->compute().to_doubles() == parameter->value().converted(DType::bf16).to_doubles());
  CHECK(parameters->find("a")->compute().to_doubles() != before);
}

TEST_CASE("updates and norms have the same bits at any thread count") {
  const int usual = thread_count();
  std::vector<std::vector<double>> results;
  std::vector<double> norms;
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    auto parameters = odd_parameters(DType::f32);
    const auto optimizer = make_optimizer({{"kind", "adamw"}, {"decay", 0.1}}, *parameters);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      fill_gradients(*parameters, step);
      norms.push_back(global_norm(parameters->gradients()));
      optimizer->step(0.01, clip_scale(norms.back(), 1));
    }
    results.push_back(parameters->values().to_doubles());
  }
  set_thread_count(usual);
  for (std::size_t i = 1; i < results.size(); ++i) CHECK(results[i] == results[0]);
  for (std::size_t i = 3; i < norms.size(); ++i) CHECK(norms[i] == norms[i % 3]);
}

TEST_CASE("an optimiser's state continues a run") {
  for (const char* spec : {R"({"kind":"adamw","decay":0.1})", R"({"kind":"sgd","momentum":0.9})"}) {
    auto whole = odd_parameters(DType::f32), broken = odd_parameters(DType::f32);
    const auto unbroken = make_optimizer(json::parse(spec), *whole),
               first = make_optimizer(json::parse(spec), *broken);
    const auto second = make_optimizer(json::parse(spec), *broken);
    for (std::uint64_t step = 1; step <= 6; ++step) {
      fill_gradients(*whole, step);
      fill_gradients(*broken, step);
      unbroken->step(0.01);
      if (step == 4) {
        const auto from = first->state(), to = second->state();
        REQUIRE(from.size() == to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          CHECK(from[i].name == to[i].name);
          to[i].tensor.copy_from(from[i].tensor);
        }
        second->set_updates(first->updates());
      }
      (step < 4 ? first : second)->step(0.01);
    }
    CHECK(whole->values().to_doubles() == broken->values().to_doubles());
  }
  auto parameters = odd_parameters(DType::f32);
  const auto state = make_optimizer("adamw", *parameters)->state();
  REQUIRE(state.size() == 4);
  CHECK(state[0].name == "first_moment/a");
  CHECK(state[3].name == "second_moment/b");
  CHECK(state[3].tensor.shape() == Shape{37});
}

TEST_CASE("the global norm counts every number once") {
  const Index count = (1 << 14) * 3 + 13;
  const Tensor ones = Tensor::filled({count}, DType::f32, 2);
  CHECK(global_norm(ones) == Approx(2 * std::sqrt(static_cast<double>(count))).epsilon(1e-15));
  CHECK(global_norm(Tensor({0}, DType::f32)) == 0);
  CHECK(clip_scale(4, 1) == 0.25);
  CHECK(clip_scale(0.5, 1) == 1);
  CHECK(clip_scale(4, 0) == 1);
  ones.data<float>()[count - 1] = std::nanf("");
  CHECK(std::isnan(global_norm(ones)));
}
