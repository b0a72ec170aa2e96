// Natural log-probabilities from rows of logits. Sums are taken in f32 and f64 whatever the logits' type;
// each row is worked out for itself, so that nothing depends on the other rows of a batch. DivergedError
// where a row holds no numbers.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "data/example.h"

namespace attnlab {

struct TokenScore {
  Token token = 0;
  double log_probability = 0;
};

// log sum exp of each row of logits [N, V].
std::vector<double> log_normalisers(const Tensor& logits);

// The k best tokens of each row, best first, ties to the smaller id. `never` is left out, though it keeps its
// share of the probability; -1: none is.
std::vector<std::vector<TokenScore>> best_tokens(const Tensor& logits, Index k, Token never);

// Of the given token in each row. ShapeError for a token outside the vocabulary.
std::vector<double> log_probabilities(const Tensor& logits, const std::vector<Token>& tokens);

}  // namespace attnlab
