// The loops of matmul_bf16.h. One instruction multiplies words of two bf16 and adds both products to a sum.
// 14 rows of a and a panel of 32 columns of b are as much as fits in the registers together with their sums.
// Panels are packed; rows of a lie in memory as words already, unless a is transposed. Headers come first, so
// that none of their functions is compiled for this instruction set.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <utility>

#include "kernels/cpu.h"
#include "kernels/matmul_bf16.h"
#include "kernels/matmul_scratch.h"
#include "kernels/matmul_views.h"

#ifdef __x86_64__
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
#endif

namespace attnlab::kernels::detail {

#ifdef __x86_64__
namespace {

#include "kernels/matmul_bf16_pack.inl"

constexpr int kPanel = 2 * kLanes, kMostRows = 14;
constexpr Index kMostDepth = 1024;            // of one pass: 14 rows then stay in the first cache
constexpr Index kMostWords = Index{1} << 16;  // of b packed at a time: a quarter of the second cache
constexpr Index kConflict = 2048;             // rows so far apart share the same few lines of the first cache

// Lines of an operand that will be read next, fetched one by one while products are made.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const bfloat16* data, Index stride, Index rows, Index columns)
      : row_(data), stride_(stride), rows_(rows), parts_((columns + kLine - 1) / kLine) {}
  void one() {
    if (rows_ <= 0) return;
    _mm_prefetch(reinterpret_cast<const char*>(row_ + part_ * kLine), _MM_HINT_T1);
    if (++part_ < parts_) return;
    part_ = 0;
    row_ += stride_;
    --rows_;
  }

 private:
  static constexpr Index kLine = 32;
  const bfloat16* row_ = nullptr;
  Index stride_ = 0, rows_ = 0, parts_ = 0, part_ = 0;
};

struct Fetches {
  Fetch a, b;
};

// Where the sums of some rows and a panel go.
struct Tile {
  const float* before;  // sums of the passes before this, or null
  float* sums;          // where the next pass finds them, or null in the last
  Index sums_stride;
  MutableMatrixView c;  // rows and columns of this tile
  const MatmulOptions* options;
  bool plain;   // c is just the sums
  bool bypass;  // stores pass the cache
};

__m512 load(const void* data, DType type, Index index, __mmask16 mask) {
  if (type == DType::f32) return _mm512_maskz_loadu_ps(mask, static_cast<const float*>(data) + index);
  const __m256i halves = _mm256_maskz_loadu_epi16(mask, static_cast<const bfloat16*>(data) + index);
  return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}

// For every vector of sums.
template <int Rows, int Vectors, class Function>
[[gnu::always_inline]] inline void each(__m512 (&sums)[Rows][Vectors], Function function) {
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sums[r][v] = function(sums[r][v], r, v);
}

// What the options ask for, one after the other, so that each is asked for once.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void finish(__m512 (&sums)[Rows][Vectors], const Tile& tile,
                                          const __mmask16 (&masks)[Vectors]) {
  const MatmulOptions& options = *tile.options;
  if (options.alpha != 1) {
    const __m512 alpha = _mm512_set1_ps(static_cast<float>(options.alpha));
    each(sums, [&](__m512 x, int, int) { return x * alpha; });
  }
  if (options.bias) {
    __m512 bias[Vectors];
    for (int v = 0; v < Vectors; ++v) bias[v] = load(options.bias, options.bias_type, v * kLanes, masks[v]);
    each(sums, [&](__m512 x, int, int v) { return x + bias[v]; });
  }
  if (options.accumulate)
    each(sums, [&](__m512 x, int r, int v) {
      return x + load(tile.c.data, tile.c.type, r * tile.c.stride + v * kLanes, masks[v]);
    });
  if (options.activation == Activation::relu)
    each(sums, [&](__m512 x, int, int) { return _mm512_max_ps(x, _mm512_setzero_ps()); });
}

// Stores of every kind, whole vectors without a mask.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void store(__m512 (&sums)[Rows][Vectors], const Tile& tile,
                                         const __mmask16 (&masks)[Vectors]) {
  const Index stride = tile.c.stride;
  const bool whole = tile.c.columns == Vectors * kLanes;
  if (tile.c.type == DType::bf16) {
    auto* out = static_cast<bfloat16*>(tile.c.data);
    const auto halves = [&](int r, int v) { return (__m256i)_mm512_cvtneps_pbh(sums[r][v]); };
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r, out += stride)
      for (int v = 0; v < Vectors; ++v)
        if (whole)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + v * kLanes), halves(r, v));
        else
          _mm256_mask_storeu_epi16(out + v * kLanes, masks[v], halves(r, v));
    return;
  }
  auto* out = static_cast<float*>(tile.c.data);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r, out += stride)
    for (int v = 0; v < Vectors; ++v)
      if (tile.bypass)
        _mm512_stream_ps(out + v * kLanes, sums[r][v]);
      else
        _mm512_mask_storeu_ps(out + v * kLanes, masks[v], sums[r][v]);
}

template <int Rows, int Vectors>
[[gnu::always_inline]] inline void write(__m512 (&sums)[Rows][Vectors], const Tile& tile) {
  if (tile.before)
    each(sums, [&](__m512 x, int r, int v) {
      return x + _mm512_loadu_ps(tile.before + r * tile.sums_stride + v * kLanes);
    });
  if (tile.sums) {
    each(sums, [&](__m512 x, int r, int v) {
      _mm512_storeu_ps(tile.sums + r * tile.sums_stride + v * kLanes, x);
      return x;
    });
    return;
  }
  __mmask16 masks[Vectors];
  for (int v = 0; v < Vectors; ++v) masks[v] = lanes_mask(tile.c.columns - v * kLanes);
  if (!tile.plain) finish(sums, tile, masks);
  store(sums, tile, masks);
}

// The lines of c that will be written.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void fetch_result(const MutableMatrixView& c) {
  const Index size = size_of(c.type);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    const char* place = static_cast<const char*>(c.data) + r * c.stride * size;
    __builtin_prefetch(place, 1);
    if (Vectors * size > 4) __builtin_prefetch(place + 64, 1);
  }
}

// Rows of a times a panel. Word p of row r is a[p * kLanes + r] where a is packed, else a[r * stride + p].
template <int Rows, int Vectors, bool Packed>
void multiply(const Word* a, Index stride, const Word* panel, Index pairs, const Tile& tile, Fetches& fetch) {
  if (!tile.bypass && tile.sums == nullptr) fetch_result<Rows, Vectors>(tile.c);
  __m512 sums[Rows][Vectors];
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) sums[r][v] = _mm512_setzero_ps();
  constexpr int kPointers = (Rows + 2) / 3;  // an address reaches the row of its pointer and the next two
  const Word* rows[kPointers];
  for (int i = 0; i < kPointers; ++i) rows[i] = a + 3 * i * stride;
  for (Index p = 0; p < pairs; ++p, panel += kPanel) {
    if (p % 8 == 0) fetch.b.one();
    if (p % 8 == 4) fetch.a.one();
    __m512bh factors[Vectors];
    for (int v = 0; v < Vectors; ++v) factors[v] = (__m512bh)_mm512_load_si512(panel + v * kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) {
      const Word word = Packed ? a[p * kLanes + r] : rows[r / 3][(r % 3) * stride];
      const auto factor = (__m512bh)_mm512_set1_epi32(static_cast<int>(word));
      for (int v = 0; v < Vectors; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], factor, factors[v]);
    }
    if (!Packed)
#pragma GCC unroll 5
      for (int i = 0; i < kPointers; ++i) ++rows[i];
  }
  write<Rows, Vectors>(sums, tile);
}

using Multiply = void (*)(const Word*, Index, const Word*, Index, const Tile&, Fetches&);

template <int... Rows>
Multiply multiply_of(Index rows, Index columns, bool packed, std::integer_sequence<int, Rows...>) {
  static constexpr Multiply all[2][2][kMostRows] = {
      {{multiply<Rows + 1, 1, false>...}, {multiply<Rows + 1, 2, false>...}},
      {{multiply<Rows + 1, 1, true>...}, {multiply<Rows + 1, 2, true>...}}};
  return all[packed][columns > kLanes][rows - 1];
}

bool is_plain(const MatmulOptions& options) {
  return options.alpha == 1 && options.bias == nullptr && !options.accumulate &&
         options.activation == Activation::none;
}

// Whether rows of a can be read where they lie.
bool needs_packing(const MatrixView& a) {
  return a.transposed || a.stride % kConflict == 0 || (a.stride | a.columns) % 2 != 0 ||
         reinterpret_cast<std::uintptr_t>(a.data) % sizeof(Word) != 0;
}

// Whether whole vectors of c can be stored past the cache.
bool can_bypass(const MutableMatrixView& c) {
  return c.type == DType::f32 && (c.columns | c.stride) % kLanes == 0 &&
         reinterpret_cast<std::uintptr_t>(c.data) % sizeof(__m512) == 0;
}

// The product of one block, in passes over its depth.
class Product {
 public:
  Product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c, const MatmulOptions& options,
          bool bypass)
      : a_(a),
        b_(b),
        c_(c),
        options_(options),
        bypass_(bypass && can_bypass(c)),
        plain_(is_plain(options)),
        packed_(needs_packing(a)),
        strips_((c.rows + kMostRows - 1) / kMostRows) {
    const Index passes = (a.columns + kMostDepth - 1) / kMostDepth;
    depth_ = ((a.columns + passes - 1) / passes + 1) / 2 * 2;
    thread_local Scratch rows, panels, sums;
    const auto size = [](Index count) { return static_cast<std::size_t>(count); };
    if (packed_) rows_ = rows.array<Word>(size(strips_ * depth_ / 2 * kLanes));
    chunk_ = std::max<Index>(1, kMostWords / (depth_ / 2 * kPanel)) * kPanel;
    panels_ = panels.array<Word>(size(depth_ / 2 * std::min(chunk_, sums_stride())));
    if (passes > 1) sums_ = sums.array<float>(size(c.rows * sums_stride()));
  }

  void run() {
    for (Index k = 0; k < a_.columns; k += depth_) pass(k, std::min(depth_, a_.columns - k));
    if (bypass_) _mm_sfence();
  }

 private:
  Index first_row(Index strip) const { return c_.rows * strip / strips_; }
  Index sums_stride() const { return (c_.columns + kPanel - 1) / kPanel * kPanel; }
  const bfloat16* a_at(Index row, Index k) const {
    return static_cast<const bfloat16*>(a_.data) +
           (a_.transposed ? k * a_.stride + row : row * a_.stride + k);
  }
  const bfloat16* b_at(Index k, Index column) const {
    return static_cast<const bfloat16*>(b_.data) +
           (b_.transposed ? column * b_.stride + k : k * b_.stride + column);
  }

  // Adds the products of [k, k + depth).
  void pass(Index k, Index depth) {
    if (packed_) pack_rows(k, depth);
    for (Index column = 0; column < c_.columns; column += chunk_) {
      const Index columns = std::min(chunk_, c_.columns - column);
      pack_columns(k, depth, column, columns);
      multiply_chunk(k, depth, column, columns);
    }
  }

  // All rows of a, by strips.
  void pack_rows(Index k, Index depth) const {
    constexpr int kTogether = 4;
    const Index pairs = (depth + 1) / 2;
    Group groups[kTogether];
    int count = 0;
    for (Index strip = 0; strip < strips_; ++strip) {
      const Index row = first_row(strip), rows = first_row(strip + 1) - row;
      Word* out = rows_ + strip * pairs * kLanes;
      if (!a_.transposed) {
        pack_along(a_at(row, k), a_.stride, rows, depth, out, kLanes);
        continue;
      }
      groups[count++] = {row, lanes_mask(rows), out};
      if (count < kTogether && strip + 1 < strips_) continue;
      pack_across(a_at(0, k), a_.stride, groups, count, depth, kLanes);
      count = 0;
    }
  }

  // Columns of b, by panels.
  void pack_columns(Index k, Index depth, Index first, Index columns) const {
    const Index pairs = (depth + 1) / 2;
    for (Index column = 0; column < columns; column += kPanel) {
      Word* out = panels_ + column * pairs;
      const Index second = columns - column - kLanes;
      if (!b_.transposed) {
        const Group halves[] = {{0, lanes_mask(columns - column), out},
                                {kLanes, lanes_mask(second), out + kLanes}};
        pack_across(b_at(k, first + column), b_.stride, halves, second > 0 ? 2 : 1, depth, kPanel);
        continue;
      }
      for (Index half = 0; half < 2 && column + half * kLanes < columns; ++half)
        pack_along(b_at(k, first + column + half * kLanes), b_.stride,
                   std::min<Index>(kLanes, columns - column - half * kLanes), depth, out + half * kLanes,
                   kPanel);
    }
  }

  // Rows of c are written from left to right, as far as the chunk goes.
  void multiply_chunk(Index k, Index depth, Index first_column, Index columns) const {
    const Index pairs = (depth + 1) / 2, end = first_column + columns;
    const Index next = std::clamp<Index>(c_.columns - end, 0, chunk_);
    Fetches fetch;
    fetch.b = b_.transposed ? Fetch(b_at(k, end), b_.stride, next, depth)
                            : Fetch(b_at(k, end), b_.stride, next > 0 ? depth : 0, next);
    const bool last = k + depth >= a_.columns;
    for (Index strip = 0; strip < strips_; ++strip) {
      const Index row = first_row(strip), rows = first_row(strip + 1) - row;
      const Word* words =
          packed_ ? rows_ + strip * pairs * kLanes : reinterpret_cast<const Word*>(a_at(row, k));
      if (!packed_ && strip + 1 < strips_)
        fetch.a = Fetch(a_at(row + rows, k), a_.stride, first_row(strip + 2) - row - rows, depth);
      for (Index column = first_column; column < end; column += kPanel) {
        const Index width = std::min<Index>(kPanel, end - column);
        float* sums = sums_ ? sums_ + row * sums_stride() + column : nullptr;
        const MatmulOptions options = options_at(options_, column);
        const Tile tile{k > 0 ? sums : nullptr,
                        last ? nullptr : sums,
                        sums_stride(),
                        block_of(c_, row, rows, column, width),
                        &options,
                        k == 0 && last && plain_,
                        bypass_};
        multiply_of(rows, width, packed_, std::make_integer_sequence<int, kMostRows>())(
            words, a_.stride / 2, panels_ + (column - first_column) * pairs, pairs, tile, fetch);
      }
    }
  }

  MatrixView a_, b_;
  MutableMatrixView c_;
  const MatmulOptions& options_;
  bool bypass_, plain_, packed_;
  Index strips_, depth_ = 0, chunk_ = 0;
  Word *rows_ = nullptr, *panels_ = nullptr;
  float* sums_ = nullptr;
};

bool has_the_instructions() {
  return isa_name() == "avx512_core_bf16" && has_native_bf16() && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

bool suits_bf16_loops(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                      const MatmulOptions& options) {
  constexpr Index kFewestRows = 16;  // fewer do not pay for packing b (measured)
  static const bool has = has_the_instructions();
  return has && a.type == DType::bf16 && b.type == DType::bf16 && c.rows >= kFewestRows && a.columns > 0 &&
         (options.activation == Activation::none || options.activation == Activation::relu);
}

void bf16_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                  const MatmulOptions& options, bool bypass) {
  Product(a, b, c, options, bypass).run();
}

#else

bool suits_bf16_loops(const MatrixView&, const MatrixView&, const MutableMatrixView&, const MatmulOptions&) {
  return false;
}
void bf16_product(const MatrixView&, const MatrixView&, const MutableMatrixView&, const MatmulOptions&,
                  bool) {}

#endif

}  // namespace attnlab::kernels::detail
