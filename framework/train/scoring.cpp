#include "train/scoring.h"

#include <algorithm>
#include <cmath>

#include "data/batches.h"
#include "train/build_model.h"
#include "train/interrupt.h"
#include "train/log_probability.h"

namespace attnlab {
namespace {

ModelInput input_of(const Batch& batch) {
  return {source_of(batch), {batch.target_in, batch.target_rows}, batch.target_out};
}

// A bound on the rows of labels that bounds the rows of the input as well.
Index bounded(const std::vector<Example>& examples, Index batch_tokens) {
  Index source = 0, target = 0;
  for (const Example& example : examples) {
    source += example.source_rows();
    target += example.target_rows();
  }
  return std::max<Index>(1, batch_tokens * std::max<Index>(target, 1) / std::max({source, target, Index{1}}));
}

void check_labels(const Transformer& model, const Example& example) {
  check(example.target_rows() >= 0, "scoring: a target needs its first symbol");
  check(model.spec().pooled() || model.spec().has_decoder() || example.target_rows() == example.source_rows(),
        "scoring: ", example.target_rows(), " labels for ", example.source_rows(), " source tokens");
}

// The column of the largest number of each row, the first of several.
std::vector<Token> best_columns(const Tensor& logits) {
  const Tensor wide = logits.type() == DType::f64 ? logits : logits.converted(DType::f64);
  std::vector<Token> best;
  const double* row = wide.data<double>();
  for (Index i = 0; i < wide.rows(); ++i, row += wide.columns())
    best.push_back(static_cast<Token>(std::max_element(row, row + wide.columns()) - row));
  return best;
}

}  // namespace

std::vector<ReferenceScore> score_reference(const Transformer& model, std::span<const Example> examples,
                                            Index batch_tokens) {
  const std::vector<Example> all(examples.begin(), examples.end());
  for (const Example& example : all) check_labels(model, example);
  std::vector<ReferenceScore> scores(all.size());
  const BatchOptions options{model.spec().pooled() ? bounded(all, batch_tokens) : batch_tokens, true, false,
                             1};
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

std::vector<std::vector<Token>> classify(const Transformer& model, const std::vector<Example>& examples,
                                         Index batch_tokens) {
  check(model.spec().pooled(), "classify: the model has no head for whole examples");
  std::vector<std::vector<Token>> answers(examples.size());
  for (const auto& chosen : plan_batches(examples, {bounded(examples, batch_tokens), true, false, 1}, 0)) {
    throw_if_interrupted();
    const Batch batch = gather(examples, chosen);
    Tape tape({.training = false});
    const std::vector<Token> best = best_columns(model.logits(tape, input_of(batch)).value());
    for (Index b = 0; b < batch.sentences(); ++b) {
      const auto first = best.begin() + batch.target_rows.offset(b);
      answers[static_cast<std::size_t>(batch.examples[static_cast<std::size_t>(b)])].assign(
          first, first + batch.target_rows.length(b));
    }
  }
  return answers;
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
