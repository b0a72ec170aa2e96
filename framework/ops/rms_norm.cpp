#include "ops/rms_norm.h"

#include <cmath>
#include <utility>

#include "kernels/rows.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

const Op kRmsNorm{"rms norm"};

// Writes y and 1 / sqrt(mean(x^2) + epsilon) of every row. gain, bias: may be null
template <class T>
void norm_rows(const Tensor& x, double epsilon, const T* gain, const T* bias, const Tensor& y,
               const Tensor& inverses) {
  using A = Accumulator<T>;
  using kernels::load;
  const Index D = x.columns(), stride = x.row_stride();
  const T* from = x.data<T>();
  T* to = y.data<T>();
  A* inverse = inverses.data<A>();
  kernels::parallel_vectorised(
      x.rows(), kernels::row_grain(D), [ D, stride, from, to, inverse, gain, bias,
                                         epsilon ](Index begin, Index end) __attribute__((always_inline)) {
        for (Index i = begin; i < end; ++i) {
          const T* row = from + i * stride;
          A squares = 0;
#pragma omp simd reduction(+ : squares)
          for (Index j = 0; j < D; ++j) squares += load(row[j]) * load(row[j]);
          const A r = static_cast<A>(
              1 / __builtin_sqrt(static_cast<double>(squares) / static_cast<double>(D) + epsilon));
          inverse[i] = r;
          for (Index j = 0; j < D; ++j)
            kernels::store(to[i * D + j],
                           load(row[j]) * r * (gain ? load(gain[j]) : A{1}) + (bias ? load(bias[j]) : A{0}));
        }
      });
}

// dx = r (dz - z mean(dz z)), with z = x r and dz = dy gain; adds dy z and dy to the sums. gain, dx,
// gain_sum, bias_sum: may be null
template <class T>
struct RowGradient {
  using A = Accumulator<T>;
  Index D;
  const T* gain;
  bool add;
  [[gnu::always_inline]] void operator()(const T* x, const T* dy, A r, T* dx, A* gain_sum,
                                         A* bias_sum) const {
    using kernels::load;
    A product = 0;
#pragma omp simd reduction(+ : product)
    for (Index j = 0; j < D; ++j) product += load(dy[j]) * (gain ? load(gain[j]) : A{1}) * load(x[j]) * r;
    product /= static_cast<A>(D);
    for (Index j = 0; gain_sum && j < D; ++j) gain_sum[j] += load(dy[j]) * load(x[j]) * r;
    for (Index j = 0; bias_sum && j < D; ++j) bias_sum[j] += load(dy[j]);
    for (Index j = 0; dx && j < D; ++j) {
      const A dz = load(dy[j]) * (gain ? load(gain[j]) : A{1});
      kernels::store(dx[j], (add ? load(dx[j]) : A{0}) + r * (dz - load(x[j]) * r * product));
    }
  }
};

template <class T>
void backward_rows(Gradients& g, const Tensor& x, const Tensor& gain, const Tensor& inverses) {
  using A = Accumulator<T>;
  const Tensor dy = g.out().contiguous() ? g.out() : g.out().clone();
  const Index D = x.columns();
  const Target dx = g.wants(0) ? g.target(0) : Target{};
  const kernels::RowPieces pieces(x.rows());
  const DType sums = dtype_of<A>;
  const Tensor dgain = g.wants(1) ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  const Tensor dbias = g.wants(2) ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  const RowGradient<T> row{D, gain ? gain.data<T>() : nullptr, dx.add};
  const A* inverse = inverses.data<A>();
  parallel_items(pieces.count(), [&pieces, &x, &dy, &dx, &dgain, &dbias, &row, inverse, D](Index piece) {
    const T *xs = x.data<T>(), *dys = dy.data<T>();
    T* dxs = dx.buffer ? dx.buffer.template data<T>() : nullptr;
    const Index x_stride = x.row_stride(), dx_stride = dx.buffer ? dx.buffer.row_stride() : 0;
    A* gain_sum = dgain ? dgain.data<A>() + piece * D : nullptr;
    A* bias_sum = dbias ? dbias.data<A>() + piece * D : nullptr;
    kernels::vectorised(
        pieces.begin(piece), pieces.end(piece),
        [ row, xs, dys, dxs, x_stride, dx_stride, gain_sum, bias_sum, inverse, D ](Index begin, Index end)
            __attribute__((always_inline)) {
              for (Index i = begin; i < end; ++i)
                row(xs + i * x_stride, dys + i * D, inverse[i], dxs ? dxs + i * dx_stride : nullptr, gain_sum,
                    bias_sum);
            });
  });
  for (const auto& [input, partials] : {std::pair{1, dgain}, std::pair{2, dbias}}) {
    if (!partials) continue;
    const Target to = g.target(input);
    kernels::add_pieces(partials, to.buffer, to.add);
  }
}

}  // namespace

Var rms_norm(const Var& x, const Var& gain, const Var& bias, double epsilon) {
  const Index D = x.shape().columns();
  check(!gain || gain.shape() == Shape{D}, "rms_norm: rows ", x.shape(), " and gain ", gain.shape());
  check(!bias || bias.shape() == Shape{D}, "rms_norm: rows ", x.shape(), " and bias ", bias.shape());
  const Tensor in = x.value(), gains = gain.value(), biases = bias.value();
  const Tensor inverses({in.rows()}, x.type() == DType::f64 ? DType::f64 : DType::f32);
  const auto normalised = [in, gains, biases, epsilon, inverses] {
    const Tensor y(in.shape(), in.type());
    dispatch(in.type(), [&in, &gains, &biases, &y, &inverses, epsilon](auto zero) {
      using T = decltype(zero);
      norm_rows<T>(in, epsilon, gains ? gains.data<T>() : nullptr, biases ? biases.data<T>() : nullptr, y,
                   inverses);
    });
    return y;
  };
  const Var none = x.tape().constant({});
  return record(kRmsNorm, {x, gain ? gain : none, bias ? bias : none}, normalised(),
                [in, gains, inverses](Gradients& g) {
                  dispatch(in.type(), [&g, &in, &gains, &inverses](auto zero) {
                    backward_rows<decltype(zero)>(g, in, gains, inverses);
                  });
                })
      .made_again_by(normalised);
}

}  // namespace attnlab
