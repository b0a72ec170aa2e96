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

constexpr Index kMostDepth = 1024;            // of one pass: 14 rows then stay in the first cache
constexpr Index kMostWords = Index{1} << 16;  // of b packed at a time: a quarter of the second cache
constexpr Index kConflict = 2048;             // rows so far apart share the same few lines of the first cache

#include "kernels/matmul_bf16_tile.inl"

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
