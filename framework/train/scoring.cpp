#include "train/scoring.h"

#include <cmath>

#include "data/batches.h"
#include "train/interrupt.h"
#include "train/log_probability.h"

namespace attnlab {
namespace {

ModelInput input_of(const Batch& batch) {
  return {{batch.source, batch.source_rows}, {batch.target_in, batch.target_rows}, batch.target_out};
}

void check_labels(const Transformer& model, const Example& example) {
  check(example.target_rows() >= 0, "scoring: a target needs its first symbol");
  check(model.spec().has_decoder() || example.target_rows() == example.source_rows(),
        "scoring: ", example.target_rows(), " labels for ", example.source_rows(), " source tokens");
}

}  // namespace

std::vector<ReferenceScore> score_reference(const Transformer& model, std::span<const Example> examples,
                                            Index batch_tokens) {
  const std::vector<Example> all(examples.begin(), examples.end());
  for (const Example& example : all) check_labels(model, example);
  std::vector<ReferenceScore> scores(all.size());
  const BatchOptions options{batch_tokens, true, false, 1};
  for (const auto& chosen : plan_batches(all, options, 0)) {
    throw_if_interrupted();
    const Batch batch = gather(all, chosen);
    Tape tape({.training = false});
    const Tensor logits = model.logits(tape, input_of(batch)).value();
    const std::vector<double> values = log_probabilities(logits, batch.target_out);
    for (Index b = 0; b < batch.sentences(); ++b) {
      ReferenceScore& score = scores[static_cast<std::size_t>(batch.examples[static_cast<std::size_t>(b)])];
      score.tokens = batch.target_rows.length(b);
      for (Index t = 0; t < score.tokens; ++t)
        score.log_probability += values[static_cast<std::size_t>(batch.target_rows.offset(b) + t)];
    }
  }
  return scores;
}

double perplexity(std::span<const ReferenceScore> scores) {
  double sum = 0, tokens = 0;
  for (const ReferenceScore& score : scores) {
    sum += score.log_probability;
    tokens += static_cast<double>(score.tokens);
  }
  check(tokens > 0, "perplexity of nothing");
  return std::exp(-sum / tokens);
}

}  // namespace attnlab
