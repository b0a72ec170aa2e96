// Matrix products: the only door to oneDNN's matmul. f32 on CPUs with AVX2 or more, bf16 on CPUs with
// AVX512-BF16 and without AMX, f64 and small products go to loops of our own; the rest goes to the library
// (bf16 is widened where the CPU cannot multiply it). The library works single-threaded inside blocks that
// depend on the shape alone, and our loops sum each element in one order wherever it lies, so that the bits
// of a result do not depend on the number of threads.
#pragma once

#include "core/dtype.h"

namespace attnlab::kernels {

// A matrix in memory. `rows` and `columns` are those of the matrix as it stands in the product: element (i,
// j) is data[i * stride + j], or data[j * stride + i] when `transposed`.
struct MatrixView {
  const void* data = nullptr;
  DType type = DType::f32;
  Index rows = 0;
  Index columns = 0;
  Index stride = 0;
  bool transposed = false;
};

// The same for a result; never transposed.
struct MutableMatrixView {
  void* data = nullptr;
  DType type = DType::f32;
  Index rows = 0;
  Index columns = 0;
  Index stride = 0;
};

enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh };  // gelu: exact, by erf

// c = activation(alpha * a b + bias + (accumulate ? c : 0)); `bias` has one value a column of c.
struct MatmulOptions {
  const void* bias = nullptr;
  DType bias_type = DType::f32;  // f32, or the type of c
  Activation activation = Activation::none;
  bool accumulate = false;
  double alpha = 1;
};

// A contiguous matrix of [rows, columns].
template <class T>
MatrixView matrix(const T* data, Index rows, Index columns) {
  return {data, dtype_of<T>, rows, columns, columns, false};
}
template <class T>
MutableMatrixView mutable_matrix(T* data, Index rows, Index columns) {
  return {data, dtype_of<T>, rows, columns, columns};
}

// The transpose of a view; nothing is copied.
inline MatrixView transpose(MatrixView m) {
  return {m.data, m.type, m.columns, m.rows, m.stride, !m.transposed};
}

// c [M, N] = a [M, K] b [K, N] with `options`, over all threads. Types: f32 x f32 -> f32, bf16 x bf16 -> bf16
// or f32, f64 x f64 -> f64; K may be 0. Sums are taken in f32 (f64 for f64). c must not overlap a, b or the
// bias. Throws ShapeError when shapes, strides or types do not fit.
void matmul(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
            const MatmulOptions& options = {});

// The same on the calling thread, for use inside a parallel loop and for small products (attention tiles).
void matmul_serial(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options = {});

// `count` products of one shape: item i uses a.data + i * a_step elements, and so on (a step of 0 shares an
// operand; c_step must not be 0 when count > 1). All items share the bias. Large items are cut like `matmul`.
void batched_matmul(Index count, const MatrixView& a, Index a_step, const MatrixView& b, Index b_step,
                    const MutableMatrixView& c, Index c_step, const MatmulOptions& options = {});

// How many library primitives this process has created so far; a second pass over the same shapes adds none.
Index primitive_creations();

// Multiplies bf16 as a CPU without bf16 products would, for tests and comparisons.
void emulate_bf16(bool on);

}  // namespace attnlab::kernels
