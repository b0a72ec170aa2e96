// The whole model against PyTorch's own modules; values made by tests/golden/transformer.py.
#include <cmath>
#include <filesystem>

#include "support/catch.h"
#include "train/adamw.h"
#include "train/build_model.h"
#include "train/safetensors.h"
#include "train/window.h"

using namespace attnlab;

namespace {

struct Case {
  bool pre, tied;
  std::string name() const { return std::string(pre ? "pre" : "post") + (tied ? "_tied" : "_untied"); }
};

ExperimentSpec spec_of(const Case& item) {
  ExperimentSpec spec;
  spec.model.width = 8;
  spec.model.stack.heads = 2;
  spec.model.stack.feed_forward = 12;
  spec.model.stack.layers = 2;
  spec.model.stack.dropout.set_all(0);
  spec.model.stack.norm.position = item.pre ? NormPosition::pre : NormPosition::post;
  spec.model.tie = item.tied ? Tie::output : Tie::none;
  spec.model.encoder = spec.model.decoder = spec.model.stack;
  spec.train.label_smoothing = 0.1;
  return spec;
}

Batch golden_batch() {
  const std::vector<Example> examples{
      {{3, 4, 5, 6, 2}, {1, 5, 4, 3, 2}}, {{7, 8, 2}, {1, 9, 2}}, {{9, 2}, {1, 3, 3, 10, 4, 2}}};
  return gather(examples, std::vector<Index>{0, 1, 2});
}

class Golden {
 public:
  explicit Golden(const Case& item)
      : file_(std::filesystem::path(ATTNLAB_SOURCE_DIR) / "tests/golden" /
              ("transformer_" + item.name() + ".safetensors")) {}
  Tensor operator()(const std::string& name) {
    const TensorEntry* entry = file_.find(name);
    if (entry == nullptr) throw IoError("no golden value " + name);
    return file_.read(*entry, DType::f64);
  }
  void load(const ParameterSet& parameters) {
    for (const auto& parameter : parameters.all())
      if (!parameter->buffer()) parameter->value().copy_from((*this)("start/" + parameter->name()));
  }

 private:
  SafetensorsFile file_;
};

// Largest difference relative to the norm of the expected tensor, with an absolute floor: gradients here are
// of size 0.1 to 1, and that of a key bias is zero but for rounding.
double distance(const Tensor& got, const Tensor& expected) {
  const auto a = got.to_doubles(), b = expected.to_doubles();
  REQUIRE(a.size() == b.size());
  double norm = 0, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    norm += b[i] * b[i];
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst / (std::sqrt(norm) + 1e-2);
}

const Case cases[] = {{true, true}, {true, false}, {false, true}, {false, false}};

}  // namespace

TEST_CASE("logits, loss and every gradient equal PyTorch's", "[golden]") {
  for (const Case& item : cases) {
    for (const auto& [type, bound] : {std::pair{DType::f64, 1e-10}, {DType::f32, 1e-5}}) {
      INFO(item.name() << " in " << to_string(type));
      Golden golden(item);
      const ExperimentSpec spec = spec_of(item);
      const auto built = build_model(spec, {11, 11, false}, type, true);
      golden.load(built->parameters);
      Tape tape;
      const ModelInput input = input_of(golden_batch(), spec.model.kind);
      CHECK(distance(built->model->logits(tape, input).value(), golden("logits")) < bound);
      const LossSums sums = window_gradient(*built, {golden_batch()}, {.smoothing = 0.1});
      CHECK(std::abs(sums.mean_smoothed() - golden("loss").to_doubles().front()) < bound);
      for (const auto& parameter : built->parameters.all()) {
        if (parameter->buffer()) continue;
        INFO(parameter->name());
        CHECK(distance(parameter->gradient(), golden("gradient/" + parameter->name())) < bound);
      }
    }
  }
}

TEST_CASE("ten AdamW steps in f64 equal PyTorch's", "[golden]") {
  for (const Case& item : cases) {
    INFO(item.name());
    Golden golden(item);
    const auto built = build_model(spec_of(item), {11, 11, false}, DType::f64, true);
    golden.load(built->parameters);
    AdamWSpec adam;
    adam.beta1 = 0.9;
    adam.beta2 = 0.98;
    adam.epsilon = 1e-9;
    adam.decay = 0.1;
    adam.decay_all = true;
    const auto optimizer = adam.make(built->parameters);
    for (int step = 0; step < 10; ++step) {
      window_gradient(*built, {golden_batch()}, {.smoothing = 0.1});
      optimizer->step(0.01);
    }
    for (const auto& parameter : built->parameters.all()) {
      if (parameter->buffer()) continue;
      INFO(parameter->name());
      // The true gradient of a key bias is zero (softmax ignores it), so Adam moves it by rounding noise.
      const bool noise = parameter->name().find("key.bias") != std::string::npos;
      CHECK(distance(parameter->value(), golden("after/" + parameter->name())) < (noise ? 1e-6 : 1e-10));
    }
  }
}
