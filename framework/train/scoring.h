// Forced scoring: the log-probability that a model gives to references, for likelihoods, perplexity and
// re-ranking.
#pragma once

#include <span>

#include "data/example.h"
#include "models/transformer.h"

namespace attnlab {

struct ReferenceScore {
  double log_probability = 0;  // natural, of all predicted tokens, </s> included
  Index tokens = 0;
};

// One score per example, in order: of target[1 .. n) given the source and what comes before. `batch_tokens`
// bounds the rows scored at once and changes nothing else. ShapeError where an encoder's labels are not one
// per source token.
std::vector<ReferenceScore> score_reference(const Transformer& model, std::span<const Example> examples,
                                            Index batch_tokens = 2048);

// The most likely label of each question about each example; only with a pooled head. `batch_tokens` bounds
// the rows at once, of input or labels.
std::vector<std::vector<Token>> classify(const Transformer& model, const std::vector<Example>& examples,
                                         Index batch_tokens = 8192);

// exp of the mean negative log-probability of a token. ShapeError without tokens.
double perplexity(std::span<const ReferenceScore> scores);

}  // namespace attnlab
