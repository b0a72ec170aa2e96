#include "ops/norm.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kLayerNorm{"layer norm"};

template <class T>
using Moments =
    std::conditional_t<std::is_same_v<T, double>, std::pair<double, double>, kernels::NormMoments>;

// The same for f64, written out: mean and 1 / deviation of a row, and the normalised row.
std::pair<double, double> norm_row(const double* x, Index D, double epsilon, const double* gain,
                                   const double* bias, double* y) {
  const double mean = std::accumulate(x, x + D, 0.0) / static_cast<double>(D);
  double squares = 0;
  for (Index j = 0; j < D; ++j) squares += (x[j] - mean) * (x[j] - mean);
  const double inverse = 1 / std::sqrt(squares / static_cast<double>(D) + epsilon);
  for (Index j = 0; j < D; ++j) y[j] = (x[j] - mean) * inverse * (gain ? gain[j] : 1) + (bias ? bias[j] : 0);
  return {mean, inverse};
}

template <class T>
kernels::NormMoments norm_row(const T* x, Index D, double epsilon, const T* gain, const T* bias, T* y) {
  return kernels::row_loops<T>().norm(x, D, static_cast<float>(epsilon), gain, bias, y);
}

template <class T>
void norm_rows(const Tensor& x, double epsilon, const Tensor& gain, const Tensor& bias, const Tensor& y,
               const Tensor& saved) {
  const T* gains = gain ? gain.data<T>() : nullptr;
  const T* biases = bias ? bias.data<T>() : nullptr;
  auto* moments = reinterpret_cast<Moments<T>*>(saved.data<Accumulator<T>>());
  const Index D = x.columns();
  parallel_for(x.rows(), kernels::row_grain(D), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      moments[i] = norm_row(x.data<T>() + i * x.row_stride(), D, epsilon, gains, biases, y.data<T>() + i * D);
  });
}

// dx = r (dz - mean(dz) - z mean(dz z)), with z = (x - mean) r and dz = dy gain; adds dy z and dy to the
// sums.
void backward_row(const double* x, const double* dy, Index D, std::pair<double, double> m, const double* gain,
                  bool add, double* dx, double* gain_sum, double* bias_sum) {
  const auto z = [&](Index j) { return (x[j] - m.first) * m.second; };
  const auto dz = [&](Index j) { return dy[j] * (gain ? gain[j] : 1); };
  double sum = 0, product = 0;
  for (Index j = 0; j < D; ++j) {
    sum += dz(j) / static_cast<double>(D);
    product += dz(j) * z(j) / static_cast<double>(D);
    if (gain_sum) gain_sum[j] += dy[j] * z(j);
    if (bias_sum) bias_sum[j] += dy[j];
  }
  for (Index j = 0; dx && j < D; ++j) dx[j] = (add ? dx[j] : 0) + m.second * (dz(j) - sum - z(j) * product);
}

template <class T>
void backward_row(const T* x, const T* dy, Index D, kernels::NormMoments m, const T* gain, bool add, T* dx,
                  float* gain_sum, float* bias_sum) {
  kernels::row_loops<T>().norm_backward(x, dy, D, m, gain, add, dx, gain_sum, bias_sum);
}

template <class T>
void backward_rows(Gradients& g, const Tensor& x, const Tensor& gain, const Tensor& saved) {
  using A = Accumulator<T>;
  const Tensor dy = g.out().contiguous() ? g.out() : g.out().clone();
  const Index D = x.columns();
  const auto* moments = reinterpret_cast<const Moments<T>*>(saved.data<A>());
  const T* gains = gain ? gain.data<T>() : nullptr;
  const bool wants_gain = g.wants(1), wants_bias = g.wants(2);
  const Target dx = g.wants(0) ? g.target(0) : Target{};
  const kernels::RowPieces pieces(x.rows());
  const DType sums = dtype_of<A>;
  const Tensor dgain = wants_gain ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  const Tensor dbias = wants_bias ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  parallel_items(pieces.count(), [&](Index piece) {
    for (Index i = pieces.begin(piece); i < pieces.end(piece); ++i) {
      backward_row(x.data<T>() + i * x.row_stride(), dy.data<T>() + i * D, D, moments[i], gains, dx.add,
                   dx.buffer ? dx.buffer.data<T>() + i * dx.buffer.row_stride() : nullptr,
                   dgain ? dgain.data<A>() + piece * D : nullptr,
                   dbias ? dbias.data<A>() + piece * D : nullptr);
    }
  });
  for (const auto& [input, partials] : {std::pair{1, dgain}, std::pair{2, dbias}}) {
    if (!partials) continue;
    const Target to = g.target(input);
    kernels::add_pieces(partials, to.buffer, to.add);
  }
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon) {
  const Index D = x.shape().columns();
  check(!gain || gain.shape() == Shape{D}, "layer_norm: rows ", x.shape(), " and gain ", gain.shape());
  check(!bias || bias.shape() == Shape{D}, "layer_norm: rows ", x.shape(), " and bias ", bias.shape());
  const Tensor in = x.value(), gains = gain.value(), biases = bias.value();
  const Tensor saved({in.rows(), 2}, x.type() == DType::f64 ? DType::f64 : DType::f32);
  const auto normalised = [in, gains, biases, epsilon, saved] {
    const Tensor y(in.shape(), in.type());
    dispatch(in.type(), [&](auto zero) { norm_rows<decltype(zero)>(in, epsilon, gains, biases, y, saved); });
    return y;
  };
  const Var none = x.tape().constant({});
  return record(kLayerNorm, {x, gain ? gain : none, bias ? bias : none}, normalised(),
                [in, gains, saved](Gradients& g) {
                  dispatch(in.type(), [&](auto zero) { backward_rows<decltype(zero)>(g, in, gains, saved); });
                })
      .made_again_by(normalised);
}

}  // namespace attnlab
