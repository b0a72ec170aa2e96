#include "ops/cross_entropy.h"

#include "ops/label_rows.h"

namespace attnlab {
namespace {

const Op kCrossEntropy{"cross-entropy"};

std::vector<detail::LabelStatistics> statistics(const Tensor& logits,
                                                const std::vector<std::int32_t>& labels) {
  detail::check_labels(logits.rows(), logits.columns(), labels);
  std::vector<detail::LabelStatistics> rows(labels.size());
  detail::label_statistics(logits, labels, 0, rows);
  return rows;
}

}  // namespace

CrossEntropy cross_entropy(const Var& logits, const std::vector<std::int32_t>& labels,
                           const CrossEntropyOptions& options) {
  const Tensor x = logits.value();
  const detail::Smoothed target = detail::smoothed(options, x.columns());
  auto rows = statistics(x, labels);
  CrossEntropy result = detail::label_sums(rows, target, x.columns());
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor loss = Tensor::filled({1}, type, result.smoothed_sum / options.normaliser);
  result.loss =
      record(kCrossEntropy, {logits}, loss,
             [x, labels, rows = std::move(rows), target, normaliser = options.normaliser](Gradients& g) {
               const double factor = g.out().to_doubles().front() / normaliser;
               detail::label_gradient(x, labels, 0, rows, target, factor, g.target(0));
             });
  return result;
}

std::vector<double> label_log_probabilities(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  std::vector<double> result;
  for (const auto& row : statistics(logits, labels)) result.push_back(row.label_logit - row.log_sum);
  return result;
}

}  // namespace attnlab
