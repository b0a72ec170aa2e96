#include "ops/reshape.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/parallel.h"
#include "ops/axis_view.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

using detail::AxisView;
using detail::contiguous;

const Op kReshape{"reshape"}, kPermute{"permute"}, kSlice{"slice"}, kConcatenate{"concatenate"},
    kSplit{"split"};

// Copies `count` places along an axis, from place `first` of x to place `to_first` of y; both contiguous,
// equal but for their size along it.
void copy_places(const Tensor& x, Index first, const Tensor& y, Index to_first, Index count, int axis) {
  const AxisView from("copy", x.shape(), axis), to("copy", y.shape(), axis);
  const auto bytes = static_cast<std::size_t>(from.inner * size_of(x.type()));
  const auto* source = static_cast<const std::byte*>(x.raw()) + static_cast<std::size_t>(first) * bytes;
  auto* target = static_cast<std::byte*>(y.raw()) + static_cast<std::size_t>(to_first) * bytes;
  const Index grain = std::max<Index>(1, detail::kElementGrain / (count * from.inner + 1));
  parallel_for(from.outer, grain, [&from, &to, source, target, bytes, count](Index begin, Index end) {
    for (Index o = begin; o < end; ++o)
      std::memcpy(target + static_cast<std::size_t>(o * to.size) * bytes,
                  source + static_cast<std::size_t>(o * from.size) * bytes,
                  static_cast<std::size_t>(count) * bytes);
  });
}

Tensor slice_of(const Tensor& strided, int axis, Index first, Index count) {
  const Tensor x = contiguous(strided), y(detail::with_size("slice", x.shape(), axis, count), x.type());
  if (y.count() > 0) copy_places(x, first, y, 0, count, axis);
  return y;
}

// All parts in order along the axis; a part that holds nothing is zero.
Tensor joined(const std::vector<Tensor>& parts, const std::vector<Index>& sizes, const Shape& shape,
              DType type, int axis) {
  const bool gaps = std::any_of(parts.begin(), parts.end(), [](const Tensor& part) { return !part; });
  const Tensor y = gaps ? Tensor::zeros(shape, type) : Tensor(shape, type);
  Index first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] && parts[i].count() > 0) copy_places(contiguous(parts[i]), 0, y, first, sizes[i], axis);
    first += sizes[i];
  }
  return y;
}

Tensor permuted(const Tensor& strided, const std::vector<int>& axes) {
  const Tensor x = contiguous(strided);
  const int rank = x.shape().rank();
  std::vector<Index> natural(axes.size(), 1), steps;
  for (int i = rank - 2; i >= 0; --i)
    natural[static_cast<std::size_t>(i)] = natural[static_cast<std::size_t>(i + 1)] * x.shape()[i + 1];
  Shape shape;
  for (const int axis : axes) {
    shape.append(x.shape()[axis]);
    steps.push_back(natural[static_cast<std::size_t>(axis)]);
  }
  const Tensor y(shape, x.type());
  dispatch(x.type(), [&x, &y, &shape, &steps, rank](auto zero) {
    using T = decltype(zero);
    const Index columns = shape.columns(), step = steps.empty() ? 1 : steps.back();
    const Index grain = std::max<Index>(1, detail::kElementGrain / (columns + 1));
    parallel_for(shape.rows(), grain, [&x, &y, &shape, &steps, rank, columns, step](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const T* from = x.data<T>();
        Index rest = row;
        for (int i = rank - 2; i >= 0; --i) {
          from += rest % shape[i] * steps[static_cast<std::size_t>(i)];
          rest /= shape[i];
        }
        T* to = y.data<T>() + row * columns;
        for (Index j = 0; j < columns; ++j) to[j] = from[j * step];
      }
    });
  });
  return y;
}

}  // namespace

Var reshape(const Var& x, const Shape& shape) {
  check(shape.count() == x.shape().count(), "reshape of ", x.shape(), " to ", shape, ": ", x.shape().count(),
        " and ", shape.count(), " elements");
  return record(kReshape, {x}, contiguous(x.value()).reshaped(shape),
                [before = x.shape()](Gradients& g) { g.give(0, contiguous(g.take_out()).reshaped(before)); });
}

Var permute(const Var& x, const std::vector<int>& axes) {
  std::vector<int> order, inverse(axes.size(), -1);
  for (const int axis : axes) order.push_back(detail::axis_of(kPermute.name(), x.shape(), axis));
  for (std::size_t i = 0; i < order.size() && order[i] < static_cast<int>(axes.size()); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  const bool all = static_cast<int>(axes.size()) == x.shape().rank() &&
                   std::find(inverse.begin(), inverse.end(), -1) == inverse.end();
  check(all, "permute of ", x.shape(), ": every axis once expected");
  return record(kPermute, {x}, permuted(x.value(), order),
                [inverse](Gradients& g) { g.give(0, permuted(g.out(), inverse)); });
}

Var slice(const Var& x, int axis, Index first, Index count) {
  const AxisView view(kSlice.name(), x.shape(), axis);
  check(first >= 0 && count >= 0 && first + count <= view.size, "slice: places ", first, " to ",
        first + count, " along axis ", axis, " of ", x.shape());
  return record(kSlice, {x}, slice_of(x.value(), axis, first, count),
                [shape = x.shape(), axis, first, count](Gradients& g) {
                  const Tensor dy = contiguous(g.out()), dx = Tensor::zeros(shape, dy.type());
                  if (dy.count() > 0) copy_places(dy, 0, dx, first, count, axis);
                  g.give(0, dx);
                });
}

Var concatenate(const std::vector<Var>& parts, int axis) {
  check(!parts.empty(), "concatenate: no parts");
  std::vector<Index> sizes;
  std::vector<Tensor> values;
  const Shape& first = parts.front().shape();
  const int at = detail::axis_of(kConcatenate.name(), first, axis);
  for (const Var& part : parts) {
    const bool fits = part.shape().rank() == first.rank() && part.type() == parts.front().type() &&
                      detail::with_size("", part.shape(), at, 1) == detail::with_size("", first, at, 1);
    check(fits, "concatenate along axis ", axis, ": ", to_string(part.type()), ' ', part.shape(), " beside ",
          to_string(parts.front().type()), ' ', first);
    sizes.push_back(part.shape()[at]);
    values.push_back(part.value());
  }
  const Shape shape = detail::with_size("", first, at, std::accumulate(sizes.begin(), sizes.end(), Index{0}));
  return record(kConcatenate, parts, joined(values, sizes, shape, parts.front().type(), at),
                [sizes, at](Gradients& g) {
                  Index place = 0;
                  for (std::size_t i = 0; i < sizes.size(); ++i) {
                    if (g.wants(static_cast<int>(i)))
                      g.give(static_cast<int>(i), slice_of(g.out(), at, place, sizes[i]));
                    place += sizes[i];
                  }
                });
}

std::vector<Var> split(const Var& x, int axis, const std::vector<Index>& sizes) {
  const AxisView view(kSplit.name(), x.shape(), axis);
  Index first = 0;
  std::vector<Tensor> parts;
  for (const Index size : sizes) {
    check(size >= 0 && first + size <= view.size, "split: parts past the end of axis ", axis, " of ",
          x.shape());
    parts.push_back(slice_of(x.value(), axis, first, size));
    first += size;
  }
  check(first == view.size, "split: parts cover ", first, " places along axis ", axis, " of ", x.shape());
  return x.tape().record_outputs(kSplit, {x}, std::move(parts),
                                 [sizes, shape = x.shape(), type = x.type(), axis](Gradients& g) {
                                   std::vector<Tensor> gradients;
                                   for (std::size_t i = 0; i < sizes.size(); ++i)
                                     gradients.push_back(g.out(static_cast<int>(i)));
                                   g.give(0, joined(gradients, sizes, shape, type, axis));
                                 });
}

}  // namespace attnlab
