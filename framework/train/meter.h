// Sums over target tokens of an interval or a validation, and the metrics that follow from them. (The loss
// that is differentiated is divided by the target tokens of the whole accumulation window:
// CrossEntropyOptions::normaliser.)
#pragma once

#include "core/dtype.h"
#include "train/record.h"

namespace attnlab {

struct Meter {
  double loss = 0;    // sum of the training objective (smoothed) over tokens
  double nll = 0;     // sum of plain -log p(token), without smoothing
  Index correct = 0;  // tokens that had the largest probability
  Index tokens = 0;   // target tokens
  Index rows = 0;     // source and target rows, for speed
  Index sentences = 0;
  double seconds = 0;

  bool operator==(const Meter&) const = default;
  void add(const Meter& other);
  // loss, nll, perplexity, accuracy per token; NaN without tokens.
  Record metrics() const;
  double tokens_per_second() const;  // source and target rows
};

}  // namespace attnlab
