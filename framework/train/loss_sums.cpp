#include "train/loss_sums.h"

#include <cmath>

namespace attnlab {

void LossSums::add(const LossSums& other) {
  smoothed += other.smoothed;
  nll += other.nll;
  tokens += other.tokens;
  source_tokens += other.source_tokens;
  correct += other.correct;
}

Record LossSums::metrics(const std::string& prefix) const {
  return {{prefix + "loss", mean_smoothed()},
          {prefix + "nll", mean_nll()},
          {prefix + "perplexity", std::exp(mean_nll())},
          {prefix + "accuracy", accuracy()}};
}

}  // namespace attnlab
