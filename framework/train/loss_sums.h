// Sums of a loss over target tokens: of a window, of the windows since the last log line, of a validation.
// What is differentiated is their mean over the target tokens of the whole accumulation window.
#pragma once

#include "core/dtype.h"
#include "train/record.h"

namespace attnlab {

struct LossSums {
  double smoothed = 0, nll = 0;  // sums over target tokens, in nats
  Index tokens = 0, source_tokens = 0, correct = 0;

  bool operator==(const LossSums&) const = default;
  void add(const LossSums& other);
  // Means over target tokens; NaN where there are none, as when every update was skipped.
  double mean_smoothed() const { return smoothed / static_cast<double>(tokens); }
  double mean_nll() const { return nll / static_cast<double>(tokens); }
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(tokens); }
  // loss, nll, perplexity and accuracy, each name with the prefix.
  Record metrics(const std::string& prefix = "") const;
};

}  // namespace attnlab
