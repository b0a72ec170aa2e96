#include "kernels/matmul_views.h"

#include <ostream>

namespace attnlab::kernels::detail {
namespace {

// A view that is put into words only where a check fails.
struct Shown {
  const MatrixView& m;
};
std::ostream& operator<<(std::ostream& out, const Shown& shown) {
  const MatrixView& m = shown.m;
  return out << to_string(m.type) << " [" << m.rows << ", " << m.columns
             << (m.transposed ? "] transposed" : "]");
}

void check_operand(const char* name, const MatrixView& m) {
  const Index length = m.transposed ? m.rows : m.columns, lines = m.transposed ? m.columns : m.rows;
  check(m.rows >= 0 && m.columns >= 0, "matmul: ", name, " has a negative size: ", Shown{m});
  check(m.stride >= length || lines <= 1, "matmul: ", name, " ", Shown{m}, " needs a stride of at least ",
        length, ", got ", m.stride);
  check(m.data || m.rows == 0 || m.columns == 0, "matmul: ", name, " ", Shown{m}, " has no data");
}

}  // namespace

void check_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options) {
  const MatrixView result{c.data, c.type, c.rows, c.columns, c.stride, false};
  check_operand("a", a);
  check_operand("b", b);
  check_operand("c", result);
  check(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "matmul: a ", Shown{a},
        " times b ", Shown{b}, " does not make c ", Shown{result});
  check(a.type == b.type && (a.type == c.type || (a.type == DType::bf16 && c.type == DType::f32)),
        "matmul: no product of ", to_string(a.type), " and ", to_string(b.type), " into ", to_string(c.type));
  if (!options.bias) return;
  check(options.bias_type == c.type || (options.bias_type == DType::f32 && c.type == DType::bf16),
        "matmul: a bias of ", to_string(options.bias_type), " does not fit c of ", to_string(c.type));
  check(options.alpha == 1, "matmul: alpha must be 1 with a bias, got ", options.alpha);
}

}  // namespace attnlab::kernels::detail
