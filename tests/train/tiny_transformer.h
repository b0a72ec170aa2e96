// Small random Transformers with strong preferences, for tests of decoding.
#pragma once

#include "models/transformer.h"
#include "train/scoring.h"

namespace attnlab {

constexpr Token kBegin = 1, kEnd = 2;

struct TinyTransformer {
  explicit TinyTransformer(ModelKind kind, Index V, DType type = DType::f64,
                           const std::function<void(ModelSpec&)>& change = {}) {
    ModelSpec spec;
    spec.kind = kind;
    spec.width = 16;
    for (StackSpec* stack : {&spec.stack, &spec.encoder, &spec.decoder}) {
      stack->layers = 2;
      stack->heads = 2;
      stack->feed_forward = 24;
    }
    spec.tie = Tie::none;
    spec.output_bias = true;
    if (change) change(spec);
    model.emplace(parameters, spec, VocabularySizes{V, V, true});
    // Far from the start of training, where all words are alike.
    parameters.finalise(type, 3, [](const Parameter&) { return true; });
    for (const auto& parameter : parameters.all())
      if (parameter->name() == "output.weight" || parameter->name().find("value") != std::string::npos)
        scale(parameter->value(), 4);
    parameters.refresh_compute();
  }
  static void scale(const Tensor& values, double factor) {
    std::vector<double> numbers = values.to_doubles();
    for (double& number : numbers) number *= factor;
    values.copy_from(Tensor::from(values.shape(), values.type(), numbers));
  }

  // Log-probabilities of the token after `before` (<s> or a prompt in front), by the whole model.
  std::vector<double> next(const std::vector<Token>& source, const std::vector<Token>& before) const {
    Tape tape({.training = false});
    const auto rows = [](const std::vector<Token>& ids) {
      return TokenRows{ids, Sequences::of_lengths({static_cast<Index>(ids.size())})};
    };
    const std::vector<double> all =
        model->logits(tape, {rows(source), rows(before), {}}).value().to_doubles();
    const auto V = static_cast<std::size_t>(model->output_size());
    std::vector<double> result(all.end() - static_cast<std::ptrdiff_t>(V), all.end());
    double sum = 0;
    for (const double logit : result) sum += std::exp(logit);
    for (double& logit : result) logit -= std::log(sum);
    return result;
  }

  ParameterSet parameters;
  std::optional<Transformer> model;
};

// Sentences of different lengths, </s> at their ends.
inline std::vector<std::vector<Token>> tiny_sources(Index count, Index V) {
  std::vector<std::vector<Token>> sources;
  for (Index b = 0; b < count; ++b) {
    const Random random(5, stream_name("sources"), static_cast<std::uint64_t>(b));
    std::vector<Token> source;
    for (std::uint64_t i = 1; i <= 1 + random.below(0, 6); ++i)
      source.push_back(static_cast<Token>(3 + random.below(i, static_cast<std::uint64_t>(V - 3))));
    source.push_back(kEnd);
    sources.push_back(source);
  }
  return sources;
}

}  // namespace attnlab
