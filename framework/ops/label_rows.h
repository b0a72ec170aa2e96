// Rows of logits against their labels: what cross-entropy needs of each row, and its gradient. Internal to
// the cross-entropy ops.
#pragma once

#include <vector>

#include "ops/cross_entropy.h"

namespace attnlab::detail {

struct LabelStatistics {
  double log_sum = 0;  // log of the sum of exp(logit)
  double label_logit = 0;
  double mean_logit = 0;
  bool correct = false;
};

// The target distribution: `base` on every word, `label` more on the label.
struct Smoothed {
  double base, label;
};
Smoothed smoothed(const CrossEntropyOptions& options, Index V);

// Throws ShapeError unless there is a label of V for each of N rows.
void check_labels(Index N, Index V, const std::vector<std::int32_t>& labels);

// Of each row of `logits` [N, V]; row i has the label labels[first + i] and goes to rows[first + i].
void label_statistics(const Tensor& logits, const std::vector<std::int32_t>& labels, Index first,
                      std::vector<LabelStatistics>& rows);

// dlogits = (softmax - target) * factor, for the same rows; `to` may be the logits themselves.
void label_gradient(const Tensor& logits, const std::vector<std::int32_t>& labels, Index first,
                    const std::vector<LabelStatistics>& rows, Smoothed target, double factor,
                    const Target& to);

// The sums over all rows; the loss itself is still to be recorded.
CrossEntropy label_sums(const std::vector<LabelStatistics>& rows, Smoothed target, Index V);

}  // namespace attnlab::detail
