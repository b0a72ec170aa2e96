#include "ops/dense.h"

#include <numeric>

#include "core/parallel.h"
#include "kernels/matmul.h"
#include "ops/broadcast.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

using kernels::MatrixView;

const Op kBatchedMatmul{"batched matmul"};

Shape leading(const Shape& shape) {
  Shape result;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) result.append(shape[axis]);
  return result;
}

// A stack of equal matrices: item i of a tensor as an operand of a product.
struct Stack {
  Tensor values;  // contiguous
  Index rows, columns;
  bool transposed = false;

  Stack(const Tensor& x, bool transpose_last)
      : values(detail::contiguous(x)),
        rows(x.shape()[transpose_last ? -1 : -2]),
        columns(x.shape()[transpose_last ? -2 : -1]),
        transposed(transpose_last) {}
  Index count() const { return leading(values.shape()).count(); }
  MatrixView item(Index i) const {
    const auto* start =
        static_cast<const std::byte*>(values.raw()) + i * rows * columns * size_of(values.type());
    return {start, values.type(), rows, columns, transposed ? rows : columns, transposed};
  }
  // All items below each other as one matrix, if they are not transposed.
  MatrixView whole() const { return {values.raw(), values.type(), count() * rows, columns, columns, false}; }
};

kernels::MutableMatrixView result_item(const Tensor& y, Index i) {
  const Index rows = y.shape()[-2], columns = y.shape()[-1];
  auto* start = static_cast<std::byte*>(y.raw()) + i * rows * columns * size_of(y.type());
  return {start, y.type(), rows, columns, columns};
}

// Which items of the operands make item o of the result, and the other way round.
struct Pairing {
  std::vector<Index> a, b;                     // per result item
  std::vector<std::vector<Index>> of_a, of_b;  // per operand item, its result items in order

  Pairing(const Shape& whole, const Shape& left, const Shape& right) {
    const detail::BroadcastWalk walk(whole, left, right);
    of_a.resize(static_cast<std::size_t>(left.count()));
    of_b.resize(static_cast<std::size_t>(right.count()));
    const Index columns = walk.columns();
    const auto last = static_cast<std::size_t>(walk.rank - 1);
    for (Index o = 0; o < whole.count(); ++o) {
      const auto start = walk.offsets(o / columns);
      a.push_back(start[0] + o % columns * walk.a_steps[last]);
      b.push_back(start[1] + o % columns * walk.b_steps[last]);
      of_a[static_cast<std::size_t>(a.back())].push_back(o);
      of_b[static_cast<std::size_t>(b.back())].push_back(o);
    }
  }
};

// y[o] = a[o's a] b[o's b] for all items.
void multiply_items(const Stack& a, const Stack& b, const Pairing& pairing, const Tensor& y) {
  const auto count = static_cast<Index>(pairing.a.size());
  if (b.count() == 1 && !a.transposed && a.count() == count)
    return kernels::matmul(a.whole(), b.item(0), {y.raw(), y.type(), a.whole().rows, b.columns, b.columns});
  parallel_items(count, [&a, &b, &pairing, &y](Index o) {
    const auto at = static_cast<std::size_t>(o);
    kernels::matmul_serial(a.item(pairing.a[at]), b.item(pairing.b[at]), result_item(y, o));
  });
}

// The gradient of one operand: for each of its items, the sum of `product(o)` over its result items in order.
template <class Product>
Tensor gather(const Shape& shape, DType type, const std::vector<std::vector<Index>>& items,
              const Product& product) {
  const bool shared =
      std::any_of(items.begin(), items.end(), [](const auto& list) { return list.size() != 1; });
  const bool wide = shared && type == DType::bf16;
  const Tensor sum(shape, wide ? DType::f32 : type);
  if (shared) sum.fill(0);
  parallel_items(static_cast<Index>(items.size()), [&items, &product, &sum, shared](Index i) {
    for (const Index o : items[static_cast<std::size_t>(i)]) {
      const auto operands = product(o);
      kernels::matmul_serial(operands[0], operands[1], result_item(sum, i), {.accumulate = shared});
    }
  });
  return wide ? sum.converted(type) : sum;
}

using Operands = std::array<MatrixView, 2>;

// c = a b, so da = dc b^T and db = a^T dc, or the transposes of these.
Tensor a_gradient(const Stack& a, const Stack& b, const Stack& dc, const Pairing& pairing) {
  return gather(a.values.shape(), a.values.type(), pairing.of_a, [&a, &b, &dc, &pairing](Index o) {
    const MatrixView other = b.item(pairing.b[static_cast<std::size_t>(o)]), dy = dc.item(o);
    return a.transposed ? Operands{other, transpose(dy)} : Operands{dy, transpose(other)};
  });
}

Tensor b_gradient(const Stack& a, const Stack& b, const Stack& dc, const Pairing& pairing) {
  if (b.count() == 1 && !a.transposed && !b.transposed && a.count() == dc.count()) {
    const Tensor db(b.values.shape(), b.values.type());
    kernels::matmul(transpose(a.whole()), dc.whole(), result_item(db, 0));
    return db;
  }
  return gather(b.values.shape(), b.values.type(), pairing.of_b, [&a, &b, &dc, &pairing](Index o) {
    const MatrixView other = a.item(pairing.a[static_cast<std::size_t>(o)]), dy = dc.item(o);
    return b.transposed ? Operands{transpose(dy), other} : Operands{transpose(other), dy};
  });
}

}  // namespace

Var batched_matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  check(a.shape().rank() >= 2 && b.shape().rank() >= 2 && a.type() == b.type(), kBatchedMatmul.name(), ": ",
        to_string(a.type()), ' ', a.shape(), " x ", to_string(b.type()), ' ', b.shape(),
        ": two matrices of one type expected");
  const Stack left(a.value(), transpose_a), right(b.value(), transpose_b);
  check(left.columns == right.rows, kBatchedMatmul.name(), ": ", a.shape(), transpose_a ? " transposed" : "",
        " x ", b.shape(), transpose_b ? " transposed" : "", ": inner sizes ", left.columns, " and ",
        right.rows, " differ");
  const Shape outer = detail::broadcast_shape(kBatchedMatmul.name(), leading(a.shape()), leading(b.shape()));
  Shape shape = outer;
  shape.append(left.rows);
  shape.append(right.columns);
  const Tensor y(shape, a.type());
  multiply_items(left, right, Pairing(outer, leading(a.shape()), leading(b.shape())), y);
  return record(kBatchedMatmul, {a, b}, y, [left, right, outer](Gradients& g) {
    const Pairing pairing(outer, leading(left.values.shape()), leading(right.values.shape()));
    const Stack dy(g.take_out(), false);
    if (g.wants(0)) g.give(0, a_gradient(left, right, dy, pairing));
    if (g.wants(1)) g.give(1, b_gradient(left, right, dy, pairing));
  });
}

}  // namespace attnlab
