#include "ops/reduce.h"

#include <algorithm>

#include "core/parallel.h"
#include "ops/axis_view.h"
#include "ops/broadcast.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

const Op kSum{"sum"}, kMean{"mean"}, kMax{"max"}, kCumulativeSum{"cumulative sum"};

constexpr Index kStrip = 64;  // neighbouring columns worked on together

using detail::AxisView;

// Calls f(outer index, first column, width) for strips of neighbouring columns that together cover a tensor.
template <class F>
void each_strip(const AxisView& view, const F& f) {
  const Index strips = (view.inner + kStrip - 1) / kStrip;
  const Index grain =
      std::max<Index>(1, detail::kElementGrain / (view.size * std::min(view.inner, kStrip) + 1));
  parallel_for(view.outer * strips, grain, [&view, strips, &f](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i % strips * kStrip;
      f(i / strips, first, std::min(kStrip, view.inner - first));
    }
  });
}

// The gradient of a sum, times a factor: dy repeated along the axis.
Tensor repeated(const Tensor& dy, const Shape& shape, const AxisView& view, double factor) {
  const Tensor from = detail::contiguous(dy), dx(shape, dy.type());
  dispatch(dy.type(), [&from, &dx, &view, factor](auto zero) {
    using T = decltype(zero);
    each_strip(view, [&from, &dx, &view, factor](Index o, Index first, Index width) {
      const T* row = from.data<T>() + o * view.inner + first;
      T* to = dx.data<T>() + o * view.size * view.inner + first;
      for (Index i = 0; i < view.size; ++i)
        for (Index j = 0; j < width; ++j)
          to[i * view.inner + j] = static_cast<T>(row[j] * static_cast<Accumulator<T>>(factor));
    });
  });
  return dx;
}

Var scaled_sum(const Op& op, const Var& x, int axis, double factor) {
  const AxisView view(op.name(), x.shape(), axis);
  const Tensor values = detail::contiguous(x.value());
  const DType wide = x.type() == DType::bf16 ? DType::f32 : x.type();
  Tensor y =
      detail::sum_to(values, detail::with_size(op.name(), x.shape(), axis, 1), factor == 1 ? x.type() : wide);
  if (factor != 1)
    y = detail::map(
        y, [factor](auto v) __attribute__((always_inline)) { return v * static_cast<decltype(v)>(factor); });
  if (y.type() != x.type()) y = y.converted(x.type());
  return record(op, {x}, y, [shape = x.shape(), view, factor](Gradients& g) {
    g.give(0, repeated(g.out(), shape, view, factor));
  });
}

// y_i = sum of x_k for k <= i, or for k >= i when `reverse`.
Tensor running_sum(const Tensor& input, const AxisView& view, bool reverse) {
  const Tensor x = detail::contiguous(input), y(x.shape(), x.type());
  dispatch(x.type(), [&x, &y, &view, reverse](auto zero) {
    using T = decltype(zero);
    each_strip(view, [&x, &y, &view, reverse](Index o, Index first, Index width) {
      const Index start = o * view.size * view.inner + first;
      Accumulator<T> sums[kStrip] = {};
      for (Index k = 0; k < view.size; ++k) {
        const Index at = start + (reverse ? view.size - 1 - k : k) * view.inner;
        const T* from = x.data<T>() + at;
        T* to = y.data<T>() + at;
        for (Index j = 0; j < width; ++j) to[j] = static_cast<T>(sums[j] += from[j]);
      }
    });
  });
  return y;
}

template <class T>
void largest_strip(const T* x, T* y, const AxisView& view, Index width) {
  for (Index j = 0; j < width; ++j) y[j] = x[j];
  for (Index i = 1; i < view.size; ++i)
    for (Index j = 0; j < width; ++j)
      if (x[i * view.inner + j] > y[j]) y[j] = x[i * view.inner + j];
}

template <class T>
void largest_strip_backward(const T* x, const T* y, const T* dy, T* dx, const AxisView& view, Index width) {
  bool found[kStrip] = {};
  for (Index i = 0; i < view.size; ++i)
    for (Index j = 0; j < width; ++j) {
      const bool here = !found[j] && x[i * view.inner + j] == y[j];
      dx[i * view.inner + j] = here ? dy[j] : T(0);
      found[j] = found[j] || here;
    }
}

}  // namespace

Var sum(const Var& x, int axis) { return scaled_sum(kSum, x, axis, 1); }

Var mean(const Var& x, int axis) {
  const AxisView view(kMean.name(), x.shape(), axis);
  check(view.size > 0, "mean over an empty axis of ", x.shape());
  return scaled_sum(kMean, x, axis, 1.0 / static_cast<double>(view.size));
}

Var max(const Var& input, int axis) {
  const AxisView view(kMax.name(), input.shape(), axis);
  check(view.size > 0, "max over an empty axis of ", input.shape());
  const Tensor x = detail::contiguous(input.value()),
               y(detail::with_size(kMax.name(), x.shape(), axis, 1), x.type());
  dispatch(x.type(), [&x, &y, &view](auto zero) {
    using T = decltype(zero);
    each_strip(view, [&x, &y, &view](Index o, Index first, Index width) {
      largest_strip(x.data<T>() + o * view.size * view.inner + first, y.data<T>() + o * view.inner + first,
                    view, width);
    });
  });
  return record(kMax, {input}, y, [x, y, view](Gradients& g) {
    const Tensor dy = detail::contiguous(g.out()), dx(x.shape(), x.type());
    dispatch(x.type(), [&x, &y, &dy, &dx, &view](auto zero) {
      using T = decltype(zero);
      each_strip(view, [&x, &y, &dy, &dx, &view](Index o, Index first, Index width) {
        const Index whole = o * view.size * view.inner + first, part = o * view.inner + first;
        largest_strip_backward(x.data<T>() + whole, y.data<T>() + part, dy.data<T>() + part,
                               dx.data<T>() + whole, view, width);
      });
    });
    g.give(0, dx);
  });
}

Var cumulative_sum(const Var& x, int axis) {
  const AxisView view(kCumulativeSum.name(), x.shape(), axis);
  return record(kCumulativeSum, {x}, running_sum(x.value(), view, false),
                [view](Gradients& g) { g.give(0, running_sum(g.out(), view, true)); });
}

}  // namespace attnlab
