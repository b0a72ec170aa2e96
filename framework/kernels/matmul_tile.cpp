#include "kernels/matmul_tile.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu.h"
#include "kernels/matmul_scratch.h"

namespace attnlab::kernels::detail {
namespace {

// Operands of element type T; a(i, k) = a[i * a_row + k * a_step], b(k, j) = b[k * b_step + j * b_column].
template <class T>
struct Operands {
  const T* a;
  Index a_row, a_step;
  const T* b;
  Index b_step, b_column;
  Index rows, columns, depth;
  MutableMatrixView c;
  const MatmulOptions* options;
  T* panel;  // room for `depth` times the panel's width
};

template <class T>
double activated(T x, Activation activation) {
  const double v = x;
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return v > 0 ? v : 0;
    case Activation::gelu:
      return 0.5 * v * (1 + std::erf(v * 0.70710678118654752440));
    case Activation::gelu_tanh:
      return 0.5 * v * (1 + std::tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
  }
  return v;
}

template <class T>
T bias_at(const MatmulOptions& options, Index column) {
  return dispatch(options.bias_type, [&](auto zero) {
    return static_cast<T>(static_cast<const decltype(zero)*>(options.bias)[column]);
  });
}

// Writes one tile of sums to c at (row, column) with the options; the general way.
template <class T, class C>
void finish_tile(const T* sums, Index width, Index rows, Index columns, const MutableMatrixView& c, Index row,
                 Index column, const MatmulOptions& options) {
  for (Index i = 0; i < rows; ++i) {
    C* out = static_cast<C*>(c.data) + (row + i) * c.stride + column;
    for (Index j = 0; j < columns; ++j) {
      T value = sums[i * width + j] * static_cast<T>(options.alpha);
      if (options.bias) value += bias_at<T>(options, column + j);
      if (options.accumulate) value += static_cast<T>(out[j]);
      if (options.activation != Activation::none)
        value = static_cast<T>(activated(value, options.activation));
      out[j] = static_cast<C>(value);
    }
  }
}

template <class T>
void finish_any(const T* sums, Index width, Index rows, Index columns, const MutableMatrixView& c, Index row,
                Index column, const MatmulOptions& options) {
  if (c.type == DType::bf16)
    finish_tile<T, bfloat16>(sums, width, rows, columns, c, row, column, options);
  else
    finish_tile<T, T>(sums, width, rows, columns, c, row, column, options);
}

// Rows x (Vectors * Bytes / sizeof(T)) sums of c, kept in registers over the whole depth.
template <class T, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(const Operands<T>& p, const T* b, Index b_step, Index row,
                                        Index column) {
  typedef T Vector __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));
  constexpr int kLanes = Bytes / static_cast<int>(sizeof(T));
  constexpr int kWidth = kLanes * Vectors;
  Vector sums[Rows][Vectors] = {};
  const T* a = p.a + row * p.a_row;
  for (Index k = 0; k < p.depth; ++k) {
    Vector factors[Vectors];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v)
      factors[v] = *reinterpret_cast<const Vector*>(b + k * b_step + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const T factor = a[r * p.a_row + k * p.a_step];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sums[r][v] += factors[v] * factor;
    }
  }
  const Index columns = std::min<Index>(kWidth, p.columns - column);
  const MatmulOptions& options = *p.options;
  const bool plain =
      columns == kWidth && p.c.type == dtype_of<T> && !options.bias && options.activation == Activation::none;
  if (!plain)
    return finish_any<T>(reinterpret_cast<const T*>(sums), kWidth, Rows, columns, p.c, row, column, options);
  const T alpha = static_cast<T>(options.alpha);
  T* out = static_cast<T*>(p.c.data) + row * p.c.stride + column;
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      Vector& target = *reinterpret_cast<Vector*>(out + r * p.c.stride + v * kLanes);
      target = options.accumulate ? sums[r][v] * alpha + target : sums[r][v] * alpha;
    }
}

// Copies `width` columns of b, zeros beyond the last, to rows of a panel.
template <class T, int Width>
[[gnu::always_inline]] inline void pack(const Operands<T>& p, Index column) {
  const Index columns = std::min<Index>(Width, p.columns - column);
  const T* b = p.b + column * p.b_column;
  for (Index k = 0; k < p.depth; ++k) {
    T* out = p.panel + k * Width;
    for (Index j = 0; j < columns; ++j) out[j] = b[k * p.b_step + j * p.b_column];
    for (Index j = columns; j < Width; ++j) out[j] = T{};
  }
}

template <class T, int Bytes, int Vectors>
[[gnu::always_inline]] inline void column_strip(const Operands<T>& p, Index column) {
  constexpr int kWidth = Bytes / static_cast<int>(sizeof(T)) * Vectors;
  const T* b = p.b + column;
  Index b_step = p.b_step;
  if (p.b_column != 1 || column + kWidth > p.columns) {
    pack<T, kWidth>(p, column);
    b = p.panel;
    b_step = kWidth;
  }
  Index row = 0;
  for (; row + 8 <= p.rows; row += 8) tile<T, Bytes, 8, Vectors>(p, b, b_step, row, column);
  for (; row + 4 <= p.rows; row += 4) tile<T, Bytes, 4, Vectors>(p, b, b_step, row, column);
  for (; row < p.rows; ++row) tile<T, Bytes, 1, Vectors>(p, b, b_step, row, column);
}

template <class T, int Bytes>
[[gnu::always_inline]] inline void all_strips(const Operands<T>& p) {
  constexpr Index kLanes = Bytes / static_cast<int>(sizeof(T));
  Index column = 0;
  for (; column + kLanes < p.columns; column += 2 * kLanes) column_strip<T, Bytes, 2>(p, column);
  if (column < p.columns) column_strip<T, Bytes, 1>(p, column);
}

constexpr std::size_t kWidestPanel = 32;  // elements: two vectors of 64 bytes of f32

#ifdef __x86_64__
template <class T>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))) void product_avx512(
    const Operands<T>& p) {
  all_strips<T, 64>(p);
}
template <class T>
__attribute__((target("avx2,fma"))) void product_avx2(const Operands<T>& p) {
  all_strips<T, 32>(p);
}
#endif
template <class T>
void product_baseline(const Operands<T>& p) {
  all_strips<T, 16>(p);
}

enum class Isa { baseline, avx2, avx512 };

// What this CPU has, but no more than the library is allowed to use.
Isa choose_isa() {
#ifdef __x86_64__
  const std::string allowed = isa_name();
  if (allowed.starts_with("avx512") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  if (allowed.starts_with("avx512") || allowed.starts_with("avx2"))
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::baseline;
}

template <class T>
void product(const Operands<T>& p) {
  static const Isa isa = choose_isa();
#ifdef __x86_64__
  if (isa == Isa::avx512) return product_avx512<T>(p);
  if (isa == Isa::avx2) return product_avx2<T>(p);
#endif
  product_baseline<T>(p);
}

// The matrix as f32, rows contiguous in memory as they were.
const float* widen(const MatrixView& m, float* out) {
  const Index lines = m.transposed ? m.columns : m.rows, length = m.transposed ? m.rows : m.columns;
  for (Index i = 0; i < lines; ++i) {
    const bfloat16* line = static_cast<const bfloat16*>(m.data) + i * m.stride;
    for (Index j = 0; j < length; ++j) out[i * length + j] = line[j];
  }
  return out;
}

template <class T>
Operands<T> operands(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                     const MatmulOptions& options) {
  thread_local Scratch panel;
  return {static_cast<const T*>(a.data),
          a.transposed ? 1 : a.stride,
          a.transposed ? a.stride : 1,
          static_cast<const T*>(b.data),
          b.transposed ? 1 : b.stride,
          b.transposed ? b.stride : 1,
          c.rows,
          c.columns,
          a.columns,
          c,
          &options,
          panel.array<T>(static_cast<std::size_t>(a.columns) * kWidestPanel)};
}

MatrixView widened(const MatrixView& m, Scratch& scratch) {
  float* out = scratch.array<float>(static_cast<std::size_t>(m.rows * m.columns));
  return {widen(m, out), DType::f32, m.rows, m.columns, m.transposed ? m.rows : m.columns, m.transposed};
}

}  // namespace

void tile_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options) {
  thread_local Scratch a_scratch, b_scratch;
  if (a.type == DType::f64) return product(operands<double>(a, b, c, options));
  if (a.type == DType::f32) return product(operands<float>(a, b, c, options));
  product(operands<float>(widened(a, a_scratch), widened(b, b_scratch), c, options));
}

}  // namespace attnlab::kernels::detail
