// Parts of matrices, and the checks at the entry of a product. Internal to matmul.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// Throws ShapeError unless the operands make a product.
void check_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options);

// The same view `elements` further on.
template <class View>
View moved(View view, Index elements) {
  using Byte = std::conditional_t<std::is_same_v<View, MatrixView>, const std::byte, std::byte>;
  view.data = static_cast<Byte*>(view.data) + elements * size_of(view.type);
  return view;
}

inline MatrixView block_of(MatrixView m, Index row, Index rows, Index column, Index columns) {
  m.rows = rows;
  m.columns = columns;
  return moved(m, m.transposed ? column * m.stride + row : row * m.stride + column);
}
inline MutableMatrixView block_of(MutableMatrixView m, Index row, Index rows, Index column, Index columns) {
  m.rows = rows;
  m.columns = columns;
  return moved(m, row * m.stride + column);
}

// The options for a block of c that begins at `column`.
inline MatmulOptions options_at(MatmulOptions options, Index column) {
  if (options.bias)
    options.bias = static_cast<const std::byte*>(options.bias) + column * size_of(options.bias_type);
  return options;
}

}  // namespace attnlab::kernels::detail
