#include "kernels/matmul.h"
#include "kernels/rows.h"
#include "ops/cross_entropy.h"
#include "ops/label_rows.h"

namespace attnlab {
namespace {

using kernels::matmul;
using kernels::mutable_view;
using kernels::transpose;
using kernels::view;

const Op kProjectedCrossEntropy{"projected cross-entropy"};

constexpr Index kTileRows = 256;

// What forward leaves for backward, for a loss whose own gradient is 1.
struct Left {
  Tensor d_logits;  // [N, V], if the weight or bias trains
  Tensor d_rows;    // [N, D], if only the rows want a gradient
};

void scale(const Tensor& x, double factor) {
  if (!x || factor == 1) return;
  dispatch(x.type(), [&x, factor](auto zero) {
    using T = decltype(zero);
    T* values = x.data<T>();
    parallel_for(x.count(), Index{1} << 13, [values, factor](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) values[i] = static_cast<T>(static_cast<double>(values[i]) * factor);
    });
  });
}

void check_shapes(const Var& rows, const Var& weight, const Var& bias) {
  check(rows.shape().rank() == 2 && weight.shape().rank() == 2 && weight.shape()[1] == rows.shape()[1] &&
            (!bias || bias.shape() == Shape{weight.shape()[0]}),
        "projected_cross_entropy: rows ", rows.shape(), ", weight ", weight.shape(), ", bias ",
        bias ? bias.shape() : Shape{});
}

void backward(Gradients& g, const Tensor& rows, const Tensor& weight, const Left& left) {
  const double factor = g.out().to_doubles().front();
  scale(left.d_logits, factor);
  scale(left.d_rows, factor);
  if (g.wants(0) && left.d_rows) {
    g.give(0, left.d_rows);
  } else if (g.wants(0)) {
    const Target to = g.target(0);
    matmul(view(left.d_logits), view(weight), mutable_view(to.buffer), {.accumulate = to.add});
  }
  if (g.wants(1)) {
    const Target to = g.target(1);
    matmul(transpose(view(left.d_logits)), view(rows), mutable_view(to.buffer), {.accumulate = to.add});
  }
  if (g.wants(2)) {
    const Target to = g.target(2);
    kernels::column_sums(left.d_logits, to.buffer, to.add);
  }
}

}  // namespace

CrossEntropy projected_cross_entropy(const Var& rows, const Var& weight, const Var& bias,
                                     const std::vector<std::int32_t>& labels,
                                     const CrossEntropyOptions& options) {
  check_shapes(rows, weight, bias);
  const Tensor x = rows.value(), w = weight.value(), b = bias ? bias.value() : Tensor();
  const Index N = x.rows(), V = w.rows();
  detail::check_labels(N, V, labels);
  const detail::Smoothed target = detail::smoothed(options, V);
  const bool trains = weight.wants_gradient() || (bias && bias.wants_gradient());
  const bool wanted = trains || rows.wants_gradient();
  Left left;
  const Tensor logits({trains ? N : std::min(N, kTileRows), V}, x.type());
  if (trains) left.d_logits = logits;
  if (wanted && !trains) left.d_rows = Tensor(x.shape(), x.type());
  std::vector<detail::LabelStatistics> statistics(labels.size());
  for (Index first = 0; first < N; first += kTileRows) {
    const Index count = std::min(kTileRows, N - first);
    const Tensor tile = logits.row_view(trains ? first : 0, count);
    matmul(view(x.row_view(first, count)), transpose(view(w)), mutable_view(tile),
           {.bias = b ? b.raw() : nullptr, .bias_type = b.type()});
    detail::label_statistics(tile, labels, first, statistics);
    if (!wanted) continue;
    detail::label_gradient(tile, labels, first, statistics, target, 1 / options.normaliser, {tile, false});
    if (left.d_rows) matmul(view(tile), view(w), mutable_view(left.d_rows.row_view(first, count)));
  }
  CrossEntropy result = detail::label_sums(statistics, target, V);
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor loss = Tensor::filled({1}, type, result.smoothed_sum / options.normaliser);
  const Tensor kept = weight.wants_gradient() ? x : Tensor();
  const Var none = rows.tape().constant({});
  result.loss = record(kProjectedCrossEntropy, {rows, weight, bias ? bias : none}, loss,
                       [kept, w, left](Gradients& g) { backward(g, kept, w, left); });
  return result;
}

}  // namespace attnlab
