// Row-wise loops that several ops share: matrix views of tensors, column sums, dropout bits. No tape here.
#pragma once

#include <cmath>

#include "core/parallel.h"
#include "core/random.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace attnlab::kernels {

// The rows of a tensor as one matrix.
inline MatrixView view(const Tensor& x) {
  return {x.raw(), x.type(), x.rows(), x.columns(), x.row_stride(), false};
}
inline MutableMatrixView mutable_view(const Tensor& x) {
  return {x.raw(), x.type(), x.rows(), x.columns(), x.row_stride()};
}

// Rows worth a thread when each has `columns` elements.
inline Index row_grain(Index columns) { return std::max<Index>(1, (1 << 14) / std::max<Index>(columns, 1)); }

// sums[j] (+)= sum over i of x[i, j]; `sums` [columns] of a master type. The order of summation depends on
// shapes only.
void column_sums(const Tensor& x, const Tensor& sums, bool add);

// Adds up `partials` [pieces, columns] in order into sums[j] (+)=, in the type of `sums`.
void add_pieces(const Tensor& partials, const Tensor& sums, bool add);

// Pieces of rows for reductions over rows: fixed by the number of rows, not of threads.
struct RowPieces {
  explicit RowPieces(Index rows_in) : rows(rows_in), size(std::max<Index>(64, (rows_in + 31) / 32)) {}
  Index rows, size;
  Index count() const { return rows == 0 ? 0 : (rows + size - 1) / size; }
  Index begin(Index piece) const { return piece * size; }
  Index end(Index piece) const { return std::min(rows, (piece + 1) * size); }
};

// Dropout decisions in 16 bits: an element is dropped when its bits are below `threshold`.
struct DropoutRate {
  explicit DropoutRate(double rate)
      : threshold(static_cast<std::uint32_t>(std::lround(rate * 65536))),
        scale(1 / (1 - threshold / 65536.0)) {}
  std::uint32_t threshold;
  double scale;  // of kept elements, so that the mean stays
};

// Writes the factors (0 or scale) of one row of `columns` elements; row is counted within the accumulation
// window.
void dropout_factors(const DropoutRate& rate, const Random& random, Index row, Index columns, float* factors);

}  // namespace attnlab::kernels
