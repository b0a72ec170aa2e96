#include "ops/label_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab::detail {
namespace {

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
  const bool correct =
      at_label == maximum && std::find(logits, logits + label, logits[label]) == logits + label;
  return {maximum + std::log(sum), at_label, total / static_cast<double>(V), correct};
}

// The gradient of one row; `label_target` is what the label's own target is times the factor.
template <class T, class A>
void gradient_of(const T* x, Index V, std::int32_t label, A log_sum, A scale, A base, A label_target,
                 bool add, T* dx) {
  const A before = add ? static_cast<A>(dx[label]) : A{0};
  const A at_label = std::exp(static_cast<A>(x[label]) - log_sum) * scale - base - label_target;
  if constexpr (!std::is_same_v<T, double>) {
    kernels::row_loops<T>().softmax_gradient(x, V, log_sum, scale, base, add, dx);
  } else {
    for (Index j = 0; j < V; ++j) {
      const A value = std::exp(x[j] - log_sum) * scale - base;
      dx[j] = add ? dx[j] + value : value;
    }
  }
  dx[label] = static_cast<T>(before + at_label);
}

}  // namespace

Smoothed smoothed(const CrossEntropyOptions& options, Index V) {
  const bool all = options.support == SmoothingSupport::vocabulary;
  const double base = V == 1 ? 0 : options.smoothing / static_cast<double>(all ? V : V - 1);
  return {base, all ? 1 - options.smoothing : 1 - options.smoothing - base};
}

void check_labels(Index N, Index V, const std::vector<std::int32_t>& labels) {
  check(static_cast<Index>(labels.size()) == N, "cross_entropy: logits ", Shape{N, V}, " and ", labels.size(),
        " labels");
  for (const auto label : labels)
    check(label >= 0 && label < V, "cross_entropy: label ", label, " of ", V, " classes");
}

void label_statistics(const Tensor& logits, const std::vector<std::int32_t>& labels, Index first,
                      std::vector<LabelStatistics>& rows) {
  const Index V = logits.columns();
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(logits.rows(), kernels::row_grain(V), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto row = static_cast<std::size_t>(first + i);
        rows[row] = statistics_of(logits.data<T>() + i * logits.row_stride(), V, labels[row]);
      }
    });
  });
}

void label_gradient(const Tensor& logits, const std::vector<std::int32_t>& labels, Index first,
                    const std::vector<LabelStatistics>& rows, Smoothed target, double factor,
                    const Target& to) {
  const Index V = logits.columns();
  const double mass = target.base * static_cast<double>(V) + target.label;  // 1, up to rounding; V = 1: less
  dispatch(logits.type(), [&](auto zero) {
    using T = decltype(zero);
    using A = Accumulator<T>;
    const A scale = static_cast<A>(mass * factor), base = static_cast<A>(target.base * factor),
            label_target = static_cast<A>(target.label * factor);
    parallel_for(logits.rows(), kernels::row_grain(V), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto row = static_cast<std::size_t>(first + i);
        gradient_of(logits.data<T>() + i * logits.row_stride(), V, labels[row],
                    static_cast<A>(rows[row].log_sum), scale, base, label_target, to.add,
                    to.buffer.data<T>() + i * to.buffer.row_stride());
      }
    });
  });
}

CrossEntropy label_sums(const std::vector<LabelStatistics>& rows, Smoothed target, Index V) {
  CrossEntropy result;
  const double spread = target.base * static_cast<double>(V);
  for (const LabelStatistics& row : rows) {
    // -sum_j q_j log p_j = mass * log_sum - label part - V * base * mean logit
    result.smoothed_sum +=
        (spread + target.label) * row.log_sum - target.label * row.label_logit - spread * row.mean_logit;
    result.nll_sum += row.log_sum - row.label_logit;
    result.correct += row.correct;
  }
  return result;
}

}  // namespace attnlab::detail
