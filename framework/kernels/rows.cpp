#include "kernels/rows.h"

namespace attnlab::kernels {
namespace {

template <class T, class S>
void sum_columns(const T* x, Index stride, Index begin, Index end, Index columns, S* sums) {
  for (Index i = begin; i < end; ++i)
    for (Index j = 0; j < columns; ++j) sums[j] += static_cast<S>(x[i * stride + j]);
}

}  // namespace

void add_pieces(const Tensor& partials, const Tensor& sums, bool add) {
  check(partials.type() == sums.type(), "add_pieces: ", to_string(partials.type()), " into ",
        to_string(sums.type()));
  dispatch(sums.type(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(sums.raw());
    if (!add) std::fill_n(to, partials.columns(), T{});
    for (Index i = 0; i < partials.rows(); ++i)
      for (Index j = 0; j < partials.columns(); ++j)
        to[j] = static_cast<T>(to[j] + partials.data<T>()[i * partials.columns() + j]);
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
      sum_columns(x.data<T>(), x.row_stride(), pieces.begin(piece), pieces.end(piece), x.columns(),
                  partials.data<S>() + piece * x.columns());
    });
  });
  add_pieces(sums.type() == type ? partials : partials.converted(sums.type()), sums, add);
}

void dropout_factors(const DropoutRate& rate, const Random& random, Index row, Index columns,
                     float* factors) {
  const Index blocks = (columns + 7) / 8;
  const float scale = static_cast<float>(rate.scale);
  for (Index b = 0; b < blocks; ++b) {
    const auto words = random.block(static_cast<std::uint64_t>(row * blocks + b));
    const Index count = std::min<Index>(8, columns - b * 8);
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t lane = words[static_cast<std::size_t>(i / 2)] >> (16 * (i % 2)) & 0xffffU;
      factors[b * 8 + i] = lane < rate.threshold ? 0 : scale;
    }
  }
}

}  // namespace attnlab::kernels
