#include "ops/gate_heads.h"

#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kGateHeads{"gate heads"};

template <class T>
void scale_rows(const Tensor& x, const Tensor& gates, const Tensor& y, bool add) {
  using A = Accumulator<T>;
  const Index H = gates.count(), K = x.columns() / H;
  parallel_for(x.rows(), kernels::row_grain(x.columns()), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index h = 0; h < H; ++h)
        for (Index k = h * K; k < (h + 1) * K; ++k) {
          const A value =
              static_cast<A>(x.data<T>()[i * x.row_stride() + k]) * static_cast<A>(gates.data<T>()[h]);
          T& to = y.data<T>()[i * y.row_stride() + k];
          to = static_cast<T>(add ? static_cast<A>(to) + value : value);
        }
  });
}

// dgate[h] = sum over rows and the head's columns of dy x
template <class T>
void gate_sums(const Tensor& x, const Tensor& dy, const Target& to) {
  using A = Accumulator<T>;
  const kernels::RowPieces pieces(x.rows());
  const Index H = to.buffer.count(), K = x.columns() / H;
  const Tensor partials = Tensor::zeros({pieces.count(), H}, dtype_of<A>);
  parallel_items(pieces.count(), [&](Index piece) {
    for (Index i = pieces.begin(piece); i < pieces.end(piece); ++i)
      for (Index j = 0; j < x.columns(); ++j)
        partials.data<A>()[piece * H + j / K] += static_cast<A>(x.data<T>()[i * x.row_stride() + j]) *
                                                 static_cast<A>(dy.data<T>()[i * dy.row_stride() + j]);
  });
  kernels::add_pieces(partials, to.buffer, to.add);
}

}  // namespace

Var gate_heads(const Var& x, const Var& gates) {
  const Index H = gates.shape().count();
  check(x.shape().rank() == 2 && H > 0 && x.shape()[1] % H == 0, "gate_heads: rows ", x.shape(),
        " and gates ", gates.shape());
  const Tensor in = x.value(), values = gates.value(), y(x.shape(), x.type());
  dispatch(x.type(), [&](auto zero) { scale_rows<decltype(zero)>(in, values, y, false); });
  return record(kGateHeads, {x, gates}, y, [in, values](Gradients& g) {
    dispatch(in.type(), [&](auto zero) {
      using T = decltype(zero);
      if (g.wants(1)) gate_sums<T>(in, g.out(), g.target(1));
      if (!g.wants(0)) return;
      const Target to = g.target(0);
      scale_rows<T>(g.out(), values, to.buffer, to.add);
    });
  });
}

}  // namespace attnlab
