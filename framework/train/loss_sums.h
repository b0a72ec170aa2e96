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
  double mean_smoothed() const { return tokens > 0 ? smoothed / static_cast<double>(tokens) : 0; }
  double mean_nll() const { return tokens > 0 ? nll / static_cast<double>(tokens) : 0; }
  double accuracy() const {
    return tokens > 0 ? static_cast<double>(correct) / static_cast<double>(tokens) : 0;
  }
  // loss, nll, perplexity and accuracy, each name with the prefix.
  Record metrics(const std::string& prefix = "") const;
};

}  // namespace attnlab
