#include "ops/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kCrossEntropy{"cross-entropy"};

struct LabelStatistics {
  double log_sum = 0;  // log of the sum of exp(logit)
  double label_logit = 0;
  double mean_logit = 0;
  bool correct = false;
};

template <class T>
LabelStatistics statistics_of(const T* logits, Index V, std::int32_t label) {
  const double at_label = static_cast<double>(logits[label]);
  double maximum, sum = 0, total = 0;
  if constexpr (std::is_same_v<T, double>) {
    maximum = *std::max_element(logits, logits + V);
    for (Index j = 0; j < V; ++j) {
      sum += std::exp(logits[j] - maximum);
      total += logits[j];
    }
  } else {
    const kernels::RowStatistics row = kernels::row_loops<T>().statistics(logits, V);
    maximum = row.maximum;
    sum = row.sum;
    total = row.total;
  }
  const bool first_of_equals = std::find(logits, logits + label, logits[label]) == logits + label;
  return {maximum + std::log(sum), at_label, total / static_cast<double>(V),
          at_label == maximum && first_of_equals};
}

std::vector<LabelStatistics> statistics(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  const Index N = logits.rows(), V = logits.columns();
  check(static_cast<Index>(labels.size()) == N, "cross_entropy: logits ", logits.shape(), " and ",
        labels.size(), " labels");
  for (const auto label : labels)
    check(label >= 0 && label < V, "cross_entropy: label ", label, " of ", V, " classes");
  std::vector<LabelStatistics> rows(labels.size());
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(N, kernels::row_grain(V), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        rows[static_cast<std::size_t>(i)] =
            statistics_of(logits.data<T>() + i * logits.row_stride(), V, labels[static_cast<std::size_t>(i)]);
    });
  });
  return rows;
}

// The target distribution: `base` on every word, `label` more on the label.
struct Smoothed {
  double base, label;
};

Smoothed smoothed(const CrossEntropyOptions& options, Index V) {
  const bool all = options.support == SmoothingSupport::vocabulary;
  const double base = V == 1 ? 0 : options.smoothing / static_cast<double>(all ? V : V - 1);
  return {base, all ? 1 - options.smoothing : 1 - options.smoothing - base};
}

// dlogits = (softmax - target) * factor
template <class T>
void gradient_rows(const Tensor& logits, const std::vector<std::int32_t>& labels,
                   const std::vector<double>& log_sums, Smoothed target, double factor, const Target& to) {
  using A = Accumulator<T>;
  const Index V = logits.columns();
  const double mass =
      target.base * static_cast<double>(V) + target.label;  // 1, up to rounding; 0 words smoothed: 1
  parallel_for(logits.rows(), kernels::row_grain(V), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const T* x = logits.data<T>() + i * logits.row_stride();
      T* dx = to.buffer.data<T>() + i * to.buffer.row_stride();
      const A log_sum = static_cast<A>(log_sums[row]), base = static_cast<A>(target.base * factor);
      const A scale = static_cast<A>(mass * factor);
      const A before = to.add ? static_cast<A>(dx[labels[row]]) : A{0};
      const A at_label = std::exp(static_cast<A>(x[labels[row]]) - log_sum) * scale - base -
                         static_cast<A>(target.label * factor);
      if constexpr (!std::is_same_v<T, double>) {
        kernels::row_loops<T>().softmax_gradient(x, V, log_sum, scale, base, to.add, dx);
        dx[labels[row]] = static_cast<T>(before + at_label);
        continue;
      }
      for (Index j = 0; j < V; ++j) {
        const A value = std::exp(static_cast<A>(x[j]) - log_sum) * scale - base;
        dx[j] = static_cast<T>(to.add ? static_cast<A>(dx[j]) + value : value);
      }
      dx[labels[row]] = static_cast<T>(before + at_label);
    }
  });
}

}  // namespace

CrossEntropy cross_entropy(const Var& logits, const std::vector<std::int32_t>& labels,
                           const CrossEntropyOptions& options) {
  const Tensor x = logits.value();
  const Index V = x.columns();
  const Smoothed target = smoothed(options, V);
  const auto rows = statistics(x, labels);
  CrossEntropy result;
  std::vector<double> log_sums;
  for (const LabelStatistics& row : rows) {
    // -sum_j q_j log p_j = mass * log_sum - label part - V * base * mean logit
    const double spread = target.base * static_cast<double>(V);
    result.smoothed_sum +=
        (spread + target.label) * row.log_sum - target.label * row.label_logit - spread * row.mean_logit;
    result.nll_sum += row.log_sum - row.label_logit;
    result.correct += row.correct;
    log_sums.push_back(row.log_sum);
  }
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor loss = Tensor::filled({1}, type, result.smoothed_sum / options.normaliser);
  result.loss = record(kCrossEntropy, {logits}, loss,
                       [x, labels, log_sums, target, normaliser = options.normaliser](Gradients& g) {
                         const double factor = g.out().to_doubles().front() / normaliser;
                         const Target to = g.target(0);
                         dispatch(x.type(), [&](auto zero) {
                           gradient_rows<decltype(zero)>(x, labels, log_sums, target, factor, to);
                         });
                       });
  return result;
}

std::vector<double> label_log_probabilities(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  std::vector<double> result;
  for (const LabelStatistics& row : statistics(logits, labels))
    result.push_back(row.label_logit - row.log_sum);
  return result;
}

}  // namespace attnlab
