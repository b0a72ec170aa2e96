#include "kernels/matmul_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

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
[[gnu::noinline]] void activate(T* values, Index count, Activation activation) {
  constexpr T kHalf = T(0.5), kCubic = T(0.044715);
  const T root_half = static_cast<T>(0.70710678118654752440),
          root_two_over_pi = static_cast<T>(0.79788456080286535588);
  for (Index j = 0; j < count; ++j) {
    const T v = values[j];
    if (activation == Activation::relu) values[j] = v > 0 ? v : 0;
    if (activation == Activation::gelu) values[j] = kHalf * v * (1 + std::erf(v * root_half));
    if (activation == Activation::gelu_tanh)
      values[j] = kHalf * v * (1 + std::tanh(root_two_over_pi * (v + kCubic * v * v * v)));
  }
}

// The bits of value + bits of x, without a call.
[[gnu::always_inline]] inline float widened(bfloat16 x) {
  return std::bit_cast<float>(std::uint32_t{x.bits} << 16);
}
[[gnu::always_inline]] inline float widened(float x) { return x; }
[[gnu::always_inline]] inline double widened(double x) { return x; }

[[gnu::always_inline]] inline void store(bfloat16& target, float x) {
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16, nan = word >> 16 | 0x40U;
  target.bits = static_cast<std::uint16_t>((word & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}
[[gnu::always_inline]] inline void store(float& target, float x) { target = x; }
[[gnu::always_inline]] inline void store(double& target, double x) { target = x; }

// Writes one row of sums to c with the options.
template <class T, class C, class B>
[[gnu::always_inline]] inline void finish_row(T* sums, Index columns, C* out, const B* bias,
                                              const MatmulOptions& options) {
  if (options.alpha != 1)
    for (Index j = 0; j < columns; ++j) sums[j] *= static_cast<T>(options.alpha);
  if (bias)
    for (Index j = 0; j < columns; ++j) sums[j] += widened(bias[j]);
  if (options.accumulate)
    for (Index j = 0; j < columns; ++j) sums[j] += widened(out[j]);
  if (options.activation != Activation::none) activate(sums, columns, options.activation);
  for (Index j = 0; j < columns; ++j) store(out[j], sums[j]);
}

template <class T, class C>
[[gnu::always_inline]] inline void finish_rows(T* sums, Index width, Index rows, Index columns,
                                               const MutableMatrixView& c, Index row, Index column,
                                               const MatmulOptions& options) {
  for (Index i = 0; i < rows; ++i) {
    C* out = static_cast<C*>(c.data) + (row + i) * c.stride + column;
    if (options.bias && options.bias_type != dtype_of<C>)
      finish_row(sums + i * width, columns, out, static_cast<const T*>(options.bias) + column, options);
    else
      finish_row(sums + i * width, columns, out,
                 options.bias ? static_cast<const C*>(options.bias) + column : nullptr, options);
  }
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
  if (dtype_of<T> == DType::f32 && p.c.type == DType::bf16)
    return finish_rows<T, std::conditional_t<std::is_same_v<T, float>, bfloat16, T>>(
        reinterpret_cast<T*>(sums), kWidth, Rows, columns, p.c, row, column, options);
  if (columns < kWidth || options.bias || options.alpha != 1 || options.activation != Activation::none)
    return finish_rows<T, T>(reinterpret_cast<T*>(sums), kWidth, Rows, columns, p.c, row, column, options);
  T* out = static_cast<T*>(p.c.data) + row * p.c.stride + column;
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      Vector& target = *reinterpret_cast<Vector*>(out + r * p.c.stride + v * kLanes);
      target = options.accumulate ? sums[r][v] + target : sums[r][v];
    }
}

// Swaps the blocks off the diagonal of two rows, in blocks of Step lanes.
template <int Step, class Vector, int... Lane>
[[gnu::always_inline]] inline void exchange(Vector& first, Vector& second,
                                            std::integer_sequence<int, Lane...>) {
  constexpr int kLanes = sizeof...(Lane);
  const Vector low = __builtin_shufflevector(first, second, (Lane & Step ? kLanes + Lane - Step : Lane)...);
  second = __builtin_shufflevector(first, second, (Lane & Step ? kLanes + Lane : Lane + Step)...);
  first = low;
}

// Exchanges the rows and columns of a square of vectors, in steps of growing blocks.
template <int Step, int Lanes, class Vector>
[[gnu::always_inline]] inline void transpose_square(Vector (&rows)[Lanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < Lanes; ++i)
    if (!(i & Step)) exchange<Step>(rows[i], rows[i + Step], std::make_integer_sequence<int, Lanes>());
  if constexpr (2 * Step < Lanes) transpose_square<2 * Step>(rows);
}

// Copies Width columns of b, zeros beyond the last, to rows of a panel. A transposed b goes by squares of
// vectors.
template <class T, int Bytes, int Width>
[[gnu::always_inline]] inline void pack(const Operands<T>& p, Index column) {
  typedef T Aligned __attribute__((vector_size(Bytes)));
  typedef T Vector __attribute__((vector_size(Bytes), aligned(sizeof(T)), may_alias));
  constexpr Index kLanes = Bytes / static_cast<Index>(sizeof(T));
  const Index columns = std::min<Index>(Width, p.columns - column);
  const T* b = p.b + column * p.b_column;
  Index k = 0;
  if (p.b_step == 1)
    for (; k + kLanes <= p.depth; k += kLanes)
      for (Index j = 0; j < Width; j += kLanes) {
        Aligned square[kLanes] = {};
        for (Index i = 0; i < std::min(kLanes, columns - j); ++i)
          square[i] = *reinterpret_cast<const Vector*>(b + (j + i) * p.b_column + k);
        transpose_square<1>(square);
        for (Index i = 0; i < kLanes; ++i)
          *reinterpret_cast<Vector*>(p.panel + (k + i) * Width + j) = square[i];
      }
  for (; k < p.depth; ++k) {
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
    pack<T, Bytes, kWidth>(p, column);
    b = p.panel;
    b_step = kWidth;
  }
  Index row = 0;
  for (; row + 8 <= p.rows; row += 8) tile<T, Bytes, 8, Vectors>(p, b, b_step, row, column);
  for (; row + 4 <= p.rows; row += 4) tile<T, Bytes, 4, Vectors>(p, b, b_step, row, column);
  for (; row + 2 <= p.rows; row += 2) tile<T, Bytes, 2, Vectors>(p, b, b_step, row, column);
  if (row < p.rows) tile<T, Bytes, 1, Vectors>(p, b, b_step, row, column);
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

}  // namespace

MatrixView widen(const MatrixView& m, float* out) {
  const Index lines = m.transposed ? m.columns : m.rows, length = m.transposed ? m.rows : m.columns;
  for (Index i = 0; i < lines; ++i) {
    const bfloat16* line = static_cast<const bfloat16*>(m.data) + i * m.stride;
    for (Index j = 0; j < length; ++j) out[i * length + j] = widened(line[j]);
  }
  return {out, DType::f32, m.rows, m.columns, length, m.transposed};
}

template <class T>
void finish(T* sums, const MutableMatrixView& c, const MatmulOptions& options) {
  if (sizeof(T) == 4 && c.type == DType::bf16)
    finish_rows<T, std::conditional_t<sizeof(T) == 4, bfloat16, T>>(sums, c.columns, c.rows, c.columns, c, 0,
                                                                    0, options);
  else
    finish_rows<T, T>(sums, c.columns, c.rows, c.columns, c, 0, 0, options);
}
template void finish(float* sums, const MutableMatrixView& c, const MatmulOptions& options);
template void finish(double* sums, const MutableMatrixView& c, const MatmulOptions& options);

void tile_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options) {
  thread_local Scratch a_scratch, b_scratch;
  if (a.type == DType::f64) return product(operands<double>(a, b, c, options));
  if (a.type == DType::f32) return product(operands<float>(a, b, c, options));
  const auto size = [](const MatrixView& m) { return static_cast<std::size_t>(m.rows * m.columns); };
  product(operands<float>(widen(a, a_scratch.array<float>(size(a))),
                          widen(b, b_scratch.array<float>(size(b))), c, options));
}

}  // namespace attnlab::kernels::detail
