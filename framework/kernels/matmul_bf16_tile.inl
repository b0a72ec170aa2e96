// Up to 14 rows of a times a panel of 32 columns of b, with all sums in registers, and what is done with the sums.
// Included by matmul_bf16_avx512.cpp after matmul_bf16_pack.inl.

constexpr int kPanel = 2 * kLanes, kMostRows = 14;

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
