// Cross-entropy of a softmax with label smoothing (Szegedy et al. 2016). Probabilities are never stored:
// backward writes the gradient from the logits and each row's log of the sum of exponentials.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tape.h"

namespace attnlab {

// Where the smoothing mass goes: over all V words (Vaswani et al. 2017), or over the V - 1 that are not the
// label.
enum class SmoothingSupport { vocabulary, others };

struct CrossEntropyOptions {
  double smoothing = 0;  // in [0, 1)
  SmoothingSupport support = SmoothingSupport::vocabulary;
  double normaliser = 1;  // the loss is the sum over rows divided by this: target tokens of the whole window
};

struct CrossEntropy {
  Var loss;                 // [1], f32 or f64
  double nll_sum = 0;       // sum over rows of -log p(label), without smoothing, in nats
  double smoothed_sum = 0;  // the loss before the division
  Index correct = 0;        // rows whose largest logit is the label
};

// `logits` [N, V], one label per row in [0, V). Throws ShapeError.
CrossEntropy cross_entropy(const Var& logits, const std::vector<std::int32_t>& labels,
                           const CrossEntropyOptions& options);

// The same of the logits rows weight^T + bias, in tiles of rows: the loss of a tile and the gradient of its
// logits, written over them, are worked out while the tile is in the cache. `rows` [N, D], `weight` [V, D],
// `bias` [V] or an empty Var. The logits stay in memory only if `weight` or `bias` wants a gradient. Throws
// ShapeError.
CrossEntropy projected_cross_entropy(const Var& rows, const Var& weight, const Var& bias,
                                     const std::vector<std::int32_t>& labels,
                                     const CrossEntropyOptions& options);

// log p of `labels` [N], without smoothing: for scoring.
std::vector<double> label_log_probabilities(const Tensor& logits, const std::vector<std::int32_t>& labels);

}  // namespace attnlab
