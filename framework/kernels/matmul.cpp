#include "kernels/matmul.h"

#include <algorithm>

#include "core/parallel.h"
#include "kernels/cpu.h"
#include "kernels/matmul_library.h"
#include "kernels/matmul_tile.h"

namespace attnlab::kernels {
namespace {

std::string shape_of(const MatrixView& m) {
  return join_text(to_string(m.type), " [", m.rows, ", ", m.columns, m.transposed ? "] transposed" : "]");
}

void check_operand(const char* name, const MatrixView& m) {
  const Index line = m.transposed ? m.rows : m.columns, lines = m.transposed ? m.columns : m.rows;
  check(m.rows >= 0 && m.columns >= 0, "matmul: ", name, " has a negative size: ", shape_of(m));
  check(m.stride >= line || lines <= 1, "matmul: ", name, " ", shape_of(m), " needs a stride of at least ",
        line, ", got ", m.stride);
  check(m.data || m.rows * m.columns == 0, "matmul: ", name, " ", shape_of(m), " has no data");
}

void check_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  const MatrixView result{c.data, c.type, c.rows, c.columns, c.stride, false};
  check_operand("a", a);
  check_operand("b", b);
  check_operand("c", result);
  check(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "matmul: a ", shape_of(a),
        " times b ", shape_of(b), " does not make c ", shape_of(result));
  check(a.type == b.type && (a.type == c.type || (a.type == DType::bf16 && c.type == DType::f32)),
        "matmul: no product of ", to_string(a.type), " and ", to_string(b.type), " into ", to_string(c.type));
  if (options.bias)
    check(options.bias_type == c.type || (options.bias_type == DType::f32 && c.type != DType::f64),
          "matmul: bias of ", to_string(options.bias_type), " does not fit c of ", to_string(c.type));
  check(!options.bias || options.alpha == 1, "matmul: alpha must be 1 with a bias, got ", options.alpha);
}

template <class View>
View block_of(View m, Index row, Index rows, Index column, Index columns) {
  bool transposed = false;
  if constexpr (requires { m.transposed; }) transposed = m.transposed;
  const Index offset = transposed ? column * m.stride + row : row * m.stride + column;
  using Byte = std::conditional_t<std::is_same_v<View, MatrixView>, const std::byte, std::byte>;
  m.data = static_cast<Byte*>(m.data) + offset * size_of(m.type);
  m.rows = rows;
  m.columns = columns;
  return m;
}

bool too_small_for_the_library(const MatrixView& a, const MutableMatrixView& c) {
  return a.rows * a.columns * c.columns <= 32 * 32 * 32;
}

// One block on this thread.
void product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
             const MatmulOptions& options) {
  const bool widen = a.type == DType::bf16 && !has_native_bf16();
  if (a.type == DType::f64 || widen || too_small_for_the_library(a, c) || a.columns == 0)
    return detail::tile_product(a, b, c, options);
  detail::run(detail::library_product(a, b, c, options), a.data, b.data, c.data, options.bias);
}

MatmulOptions options_at(const MatmulOptions& options, Index column) {
  MatmulOptions result = options;
  if (options.bias)
    result.bias = static_cast<const std::byte*>(options.bias) + column * size_of(options.bias_type);
  return result;
}

}  // namespace

void matmul_serial(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  check_product(a, b, c, options);
  if (c.rows > 0 && c.columns > 0) product(a, b, c, options);
}

void matmul(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
            const MatmulOptions& options) {
  check_product(a, b, c, options);
  if (c.rows == 0 || c.columns == 0) return;
  if (too_small_for_the_library(a, c)) return product(a, b, c, options);
  constexpr Index kRows = 128, kColumns = 256;
  const Index row_blocks = (c.rows + kRows - 1) / kRows,
              column_blocks = (c.columns + kColumns - 1) / kColumns;
  parallel_items(row_blocks * column_blocks, [&](Index item) {
    const Index row = item / column_blocks * kRows, column = item % column_blocks * kColumns;
    const Index rows = std::min(kRows, c.rows - row), columns = std::min(kColumns, c.columns - column);
    product(block_of(a, row, rows, 0, a.columns), block_of(b, 0, b.rows, column, columns),
            block_of(c, row, rows, column, columns), options_at(options, column));
  });
}

void batched_matmul(Index count, const MatrixView& a, Index a_step, const MatrixView& b, Index b_step,
                    const MutableMatrixView& c, Index c_step, const MatmulOptions& options) {
  check_product(a, b, c, options);
  check(count <= 1 || c_step != 0, "batched_matmul: c_step must not be 0 for ", count, " items");
  if (c.rows == 0 || c.columns == 0) return;
  const auto at = [](auto view, Index elements) {
    using Byte = std::conditional_t<std::is_same_v<decltype(view), MatrixView>, const std::byte, std::byte>;
    view.data = static_cast<Byte*>(view.data) + elements * size_of(view.type);
    return view;
  };
  parallel_items(count,
                 [&](Index i) { product(at(a, i * a_step), at(b, i * b_step), at(c, i * c_step), options); });
}

}  // namespace attnlab::kernels
