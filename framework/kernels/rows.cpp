#include "kernels/rows.h"

#include "kernels/row_loops.h"

namespace attnlab::kernels {
namespace {

// sums += rows begin … end of x
template <class T>
void sum_columns(const Tensor& x, Index begin, Index end, Accumulator<T>* sums) {
  for (Index i = begin; i < end; ++i) {
    const T* row = x.data<T>() + i * x.row_stride();
    if constexpr (std::is_same_v<T, double>)
      for (Index j = 0; j < x.columns(); ++j) sums[j] += row[j];
    else
      row_loops<T>().add_to(row, x.columns(), sums);
  }
}

}  // namespace

void add_pieces(const Tensor& partials, const Tensor& sums, bool add) {
  const Tensor pieces = partials.type() == sums.type() ? partials : partials.converted(sums.type());
  dispatch(sums.type(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(sums.raw());
    if (!add) std::fill_n(to, pieces.columns(), T{});
    for (Index i = 0; i < pieces.rows(); ++i)
      for (Index j = 0; j < pieces.columns(); ++j)
        to[j] = static_cast<T>(to[j] + pieces.data<T>()[i * pieces.columns() + j]);
  });
}

void column_sums(const Tensor& x, const Tensor& sums, bool add) {
  check(sums.count() == x.columns(), "column_sums: ", x.shape(), " into ", sums.shape());
  const RowPieces pieces(x.rows());
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor partials = Tensor::zeros({pieces.count(), x.columns()}, type);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    using S = Accumulator<T>;
    parallel_items(pieces.count(), [&](Index piece) {
      sum_columns<T>(x, pieces.begin(piece), pieces.end(piece), partials.data<S>() + piece * x.columns());
    });
  });
  add_pieces(partials, sums, add);
}

void dropout_factors(const DropoutRate& rate, const Random& random, Index row, Index columns,
                     float* factors) {
  row_loops<float>().dropout_factors({random.key(), random.step(), static_cast<std::uint64_t>(row),
                                      rate.threshold, static_cast<float>(rate.scale)},
                                     columns, factors);
}

}  // namespace attnlab::kernels
