#include "bench/presets.h"

#include "config/error.h"

namespace attnlab {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{{"toy", 2, 64, 4, 256, 100, 32, 16, 0.1, false},
                                       {"tiny", 4, 128, 4, 256, 8000, 128, 16, 0.1, false},
                                       {"small", 3, 256, 4, 1024, 8000, 64, 16, 0.1, false},
                                       {"base", 6, 512, 8, 2048, 10000, 32, 32, 0.1, false},
                                       {"gpt2", 12, 768, 12, 3072, 50257, 4, 64, 0.0, true}};
  return all;
}

std::vector<Preset> presets_named(const std::string& name) {
  if (name.empty()) return presets();
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return {preset};
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  throw ConfigError("--preset: '" + name + "' is none of " + known);
}

ExperimentSpec spec_of(const Preset& preset, double dropout) {
  ExperimentSpec spec;
  spec.model.kind = preset.language_model ? ModelKind::decoder : ModelKind::encoder_decoder;
  spec.model.width = preset.width;
  spec.model.tie = Tie::all;
  spec.model.positions.kind = PositionKind::learned;
  spec.model.positions.max_length = std::max<Index>(1024, preset.length);
  StackSpec& stack = spec.model.stack;
  stack.layers = preset.layers;
  stack.heads = preset.heads;
  stack.feed_forward = preset.feed_forward;
  if (preset.language_model) stack.mlp.activation = Activation::gelu_tanh;
  stack.dropout.set_all(dropout >= 0 ? dropout : preset.dropout);
  stack.dropout.embedding = 0;
  spec.model.encoder = spec.model.decoder = stack;
  spec.train.label_smoothing = preset.language_model ? 0 : 0.1;
  return spec;
}

std::unique_ptr<BuiltModel> build_preset(const Preset& preset, const ExperimentSpec& spec, DType type,
                                         bool training) {
  return build_model(spec, {preset.vocabulary, preset.vocabulary, true}, type, training);
}

Batch random_batch(const Preset& preset, std::uint64_t number) {
  const Random random(3, stream_name("bench step"), number);
  std::vector<Example> examples(static_cast<std::size_t>(preset.batch));
  std::vector<Index> order;
  std::uint64_t next = 0;
  const auto draw = [&](Index count) {
    std::vector<Token> ids;
    for (Index i = 0; i < count; ++i)
      ids.push_back(static_cast<Token>(random.below(next++, static_cast<std::uint64_t>(preset.vocabulary))));
    return ids;
  };
  for (auto& example : examples) {
    if (!preset.language_model) example.source = draw(preset.length);
    example.target = draw(preset.length + 1);
    order.push_back(static_cast<Index>(order.size()));
  }
  return gather(examples, order);
}

}  // namespace attnlab
