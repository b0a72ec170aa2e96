#include "ops/mean_rows.h"

#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kMeanRows{"mean rows"};

template <class T>
void sum_rows(const Tensor& x, const Sequences& rows, const Tensor& y) {
  using A = Accumulator<T>;
  const Index D = x.columns();
  parallel_items(rows.count(), [&x, &rows, &y, D](Index b) {
    std::vector<A> sum(static_cast<std::size_t>(D), A{0});
    for (Index t = 0; t < rows.length(b); ++t) {
      const T* from = x.data<T>() + (rows.offset(b) + t) * x.row_stride();
      for (Index j = 0; j < D; ++j) sum[static_cast<std::size_t>(j)] += static_cast<A>(from[j]);
    }
    const A share = A{1} / static_cast<A>(std::max<Index>(rows.length(b), 1));
    for (Index j = 0; j < D; ++j)
      y.data<T>()[b * D + j] = static_cast<T>(sum[static_cast<std::size_t>(j)] * share);
  });
}

template <class T>
void spread_rows(const Tensor& dy, const Sequences& rows, const Target& to) {
  using A = Accumulator<T>;
  if (!to.add) to.buffer.fill(0);
  parallel_items(rows.count(), [&dy, &rows, &to](Index b) {
    const A share = A{1} / static_cast<A>(std::max<Index>(rows.length(b), 1));
    const T* from = dy.data<T>() + b * dy.row_stride();
    for (Index t = 0; t < rows.length(b); ++t) {
      T* out = to.buffer.data<T>() + (rows.offset(b) + t) * to.buffer.row_stride();
      for (Index j = 0; j < dy.columns(); ++j)
        out[j] = static_cast<T>(static_cast<A>(out[j]) + share * static_cast<A>(from[j]));
    }
  });
}

}  // namespace

Var mean_rows(const Var& x, const Sequences& rows) {
  check(x.shape().rank() == 2 && rows.rows() == x.shape()[0], "mean_rows: sentences of ", rows.rows(),
        " rows in all, got ", x.shape());
  const Tensor y({rows.count(), x.shape()[1]}, x.type());
  dispatch(x.type(), [&x, &rows, &y](auto zero) { sum_rows<decltype(zero)>(x.value(), rows, y); });
  return record(kMeanRows, {x}, y, [rows](Gradients& g) {
    const Target to = g.target(0);
    dispatch(g.out().type(), [&g, &rows, &to](auto zero) { spread_rows<decltype(zero)>(g.out(), rows, to); });
  });
}

}  // namespace attnlab
