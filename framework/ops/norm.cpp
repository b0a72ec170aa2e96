#include "ops/norm.h"

#include <cmath>

#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kLayerNorm{"layer norm"};

template <class A>
struct Moments {
  A mean, inverse_deviation;
};

template <class T, class A>
Moments<A> moments_of(const T* x, Index columns, A epsilon) {
  A sum = 0, squares = 0;
  for (Index j = 0; j < columns; ++j) sum += static_cast<A>(x[j]);
  const A mean = sum / static_cast<A>(columns);
  for (Index j = 0; j < columns; ++j) {
    const A centred = static_cast<A>(x[j]) - mean;
    squares += centred * centred;
  }
  return {mean, 1 / std::sqrt(squares / static_cast<A>(columns) + epsilon)};
}

// dx = r (dz - mean(dz) - z mean(dz z)), with z = (x - mean) r and dz = dy gain.
template <class T, class A>
void input_row(const T* x, const T* dy, const T* gain, Moments<A> m, Index columns, bool add, T* dx) {
  A sum = 0, product = 0;
  for (Index j = 0; j < columns; ++j) {
    const A dz = static_cast<A>(dy[j]) * (gain ? static_cast<A>(gain[j]) : A{1});
    sum += dz;
    product += dz * (static_cast<A>(x[j]) - m.mean) * m.inverse_deviation;
  }
  sum /= static_cast<A>(columns);
  product /= static_cast<A>(columns);
  for (Index j = 0; j < columns; ++j) {
    const A dz = static_cast<A>(dy[j]) * (gain ? static_cast<A>(gain[j]) : A{1});
    const A z = (static_cast<A>(x[j]) - m.mean) * m.inverse_deviation;
    const A value = m.inverse_deviation * (dz - sum - z * product);
    dx[j] = static_cast<T>(add ? static_cast<A>(dx[j]) + value : value);
  }
}

template <class T>
void backward_rows(Gradients& g, const Tensor& x, const Tensor& gain, const Tensor& saved) {
  using A = Accumulator<T>;
  const Tensor dy = g.out().contiguous() ? g.out() : g.out().clone();
  const Index D = x.columns();
  const auto* moments = reinterpret_cast<const Moments<A>*>(saved.data<A>());
  const T* gains = gain ? gain.data<T>() : nullptr;
  const bool wants_gain = g.wants(1), wants_bias = g.wants(2);
  const Target dx = g.wants(0) ? g.target(0) : Target{};
  const kernels::RowPieces pieces(x.rows());
  const DType sums = dtype_of<A>;
  const Tensor dgain = wants_gain ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  const Tensor dbias = wants_bias ? Tensor::zeros({pieces.count(), D}, sums) : Tensor();
  parallel_items(pieces.count(), [&](Index piece) {
    for (Index i = pieces.begin(piece); i < pieces.end(piece); ++i) {
      const T* xi = x.data<T>() + i * x.row_stride();
      const T* dyi = dy.data<T>() + i * D;
      const Moments<A> m = moments[i];
      if (dx.buffer)
        input_row(xi, dyi, gains, m, D, dx.add, dx.buffer.data<T>() + i * dx.buffer.row_stride());
      A* gain_sum = dgain ? dgain.data<A>() + piece * D : nullptr;
      A* bias_sum = dbias ? dbias.data<A>() + piece * D : nullptr;
      for (Index j = 0; gain_sum && j < D; ++j)
        gain_sum[j] += static_cast<A>(dyi[j]) * (static_cast<A>(xi[j]) - m.mean) * m.inverse_deviation;
      for (Index j = 0; bias_sum && j < D; ++j) bias_sum[j] += static_cast<A>(dyi[j]);
    }
  });
  for (const auto& [input, partials] : {std::pair{1, dgain}, std::pair{2, dbias}}) {
    if (!partials) continue;
    const Target to = g.target(input);
    kernels::add_pieces(to.buffer.type() == sums ? partials : partials.converted(to.buffer.type()), to.buffer,
                        to.add);
  }
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon) {
  const Index D = x.shape().columns();
  check(!gain || gain.shape() == Shape{D}, "layer_norm: rows ", x.shape(), " and gain ", gain.shape());
  check(!bias || bias.shape() == Shape{D}, "layer_norm: rows ", x.shape(), " and bias ", bias.shape());
  const Tensor in = x.value(), y(x.shape(), x.type()), gains = gain.value();
  const Tensor saved({in.rows(), 2}, x.type() == DType::f64 ? DType::f64 : DType::f32);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    using A = Accumulator<T>;
    const T* gain_row = gain ? gains.data<T>() : nullptr;
    const T* bias_row = bias ? bias.value().data<T>() : nullptr;
    auto* moments = reinterpret_cast<Moments<A>*>(saved.data<A>());
    parallel_for(in.rows(), kernels::row_grain(D), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const T* xi = in.data<T>() + i * in.row_stride();
        T* yi = y.data<T>() + i * D;
        const Moments<A> m = moments[i] = moments_of(xi, D, static_cast<A>(epsilon));
        for (Index j = 0; j < D; ++j) {
          A value = (static_cast<A>(xi[j]) - m.mean) * m.inverse_deviation;
          if (gain_row) value *= static_cast<A>(gain_row[j]);
          if (bias_row) value += static_cast<A>(bias_row[j]);
          yi[j] = static_cast<T>(value);
        }
      }
    });
  });
  const Var none = x.tape().constant({});
  return record(kLayerNorm, {x, gain ? gain : none, bias ? bias : none}, y, [in, gains, saved](Gradients& g) {
    dispatch(in.type(), [&](auto zero) { backward_rows<decltype(zero)>(g, in, gains, saved); });
  });
}

}  // namespace attnlab
