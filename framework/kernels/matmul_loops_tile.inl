// Some rows of a times a panel of two vectors of columns of b, with all sums in registers, and what is done
// with the sums. Included after matmul_loops_pack.inl.

constexpr Index kPanel = 2 * kLanes;

// Lines of an operand that will be read next, fetched one by one while products are made.
class Fetch {
 public:
  Fetch() = default;
  Fetch(const Number* data, Index stride, Index rows, Index columns)
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
  const Number* row_ = nullptr;
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

// For every vector of sums.
template <int Rows, int Vectors, class Function>
[[gnu::always_inline]] inline void each(Vector (&sums)[Rows][Vectors], Function function) {
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sums[r][v] = function(sums[r][v], r, v);
}

// What the options ask for, one after the other, so that each is asked for once.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void finish(Vector (&sums)[Rows][Vectors], const Tile& tile,
                                          const Mask (&masks)[Vectors]) {
  const MatmulOptions& options = *tile.options;
  if (options.alpha != 1) {
    const Vector alpha = all(static_cast<float>(options.alpha));
    each(sums, [&](Vector x, int, int) { return x * alpha; });
  }
  if (options.bias) {
    Vector bias[Vectors];
    for (int v = 0; v < Vectors; ++v) bias[v] = load(options.bias, options.bias_type, v * kLanes, masks[v]);
    each(sums, [&](Vector x, int, int v) { return x + bias[v]; });
  }
  if (options.accumulate)
    each(sums, [&](Vector x, int r, int v) {
      return x + load(tile.c.data, tile.c.type, r * tile.c.stride + v * kLanes, masks[v]);
    });
  if (options.activation == Activation::relu)
    each(sums, [&](Vector x, int, int) { return larger(x, zeros()); });
}

// Whole vectors without a mask.
template <class Element, int Rows, int Vectors>
[[gnu::always_inline]] inline void store_as(Vector (&sums)[Rows][Vectors], const Tile& tile,
                                            const Mask (&masks)[Vectors]) {
  auto* out = static_cast<Element*>(tile.c.data);
  const bool whole = tile.c.columns == Vectors * kLanes;
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r, out += tile.c.stride)
    for (int v = 0; v < Vectors; ++v)
      if (tile.bypass)
        bypass_cache(out + v * kLanes, sums[r][v]);
      else if (whole)
        store(out + v * kLanes, sums[r][v]);
      else
        store(out + v * kLanes, sums[r][v], masks[v]);
}

template <int Rows, int Vectors>
[[gnu::always_inline]] inline void write(Vector (&sums)[Rows][Vectors], const Tile& tile) {
  if (tile.before)
    each(sums,
         [&](Vector x, int r, int v) { return x + load(tile.before + r * tile.sums_stride + v * kLanes); });
  if (tile.sums) {
    each(sums, [&](Vector x, int r, int v) {
      store(tile.sums + r * tile.sums_stride + v * kLanes, x);
      return x;
    });
    return;
  }
  Mask masks[Vectors];
  for (int v = 0; v < Vectors; ++v) masks[v] = lanes_mask(tile.c.columns - v * kLanes);
  if (!tile.plain) finish(sums, tile, masks);
  if (tile.c.type == DType::f32) return store_as<float>(sums, tile, masks);
  if constexpr (std::is_same_v<Number, bfloat16>) store_as<bfloat16>(sums, tile, masks);
}

// The lines of c that will be written.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void fetch_result(const MutableMatrixView& c) {
  const Index size = size_of(c.type);
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r) {
    const char* place = static_cast<const char*>(c.data) + r * c.stride * size;
    __builtin_prefetch(place, 1);
    if (Vectors * kLanes * size > 64) __builtin_prefetch(place + 64, 1);
  }
}

// Two vectors of columns of b: the words of each p, `step` after those of the one before.
struct Panel {
  const Word* words;
  Index step;
};

// Rows of a times a panel. Word p of row r is a[p * stride + r] where the rows lie `Across`, else a[r *
// stride + p].
template <int Rows, int Vectors, bool Across>
void multiply(const Word* a, Index stride, Panel panel, Index words, const Tile& tile, Fetches& fetch) {
  if (!tile.bypass && tile.sums == nullptr) fetch_result<Rows, Vectors>(tile.c);
  Vector sums[Rows][Vectors];
#pragma GCC unroll 14
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) sums[r][v] = zeros();
  constexpr int kPointers = (Rows + 2) / 3;  // an address reaches the row of its pointer and the next two
  const Word* rows[kPointers];
  for (int i = 0; i < kPointers; ++i) rows[i] = a + 3 * i * stride;
  for (Index p = 0; p < words; ++p, panel.words += panel.step) {
    if (p % 8 == 0) fetch.b.one();
    if (p % 8 == 4) fetch.a.one();
    Vector factors[Vectors];
    for (int v = 0; v < Vectors; ++v)
      factors[v] = load(reinterpret_cast<const float*>(panel.words) + v * kLanes);
#pragma GCC unroll 14
    for (int r = 0; r < Rows; ++r) {
      const Word word = Across ? a[p * stride + r] : rows[r / 3][(r % 3) * stride];
      for (int v = 0; v < Vectors; ++v) sums[r][v] = add_product(sums[r][v], word, factors[v]);
    }
    if (!Across)
#pragma GCC unroll 5
      for (int i = 0; i < kPointers; ++i) ++rows[i];
  }
  write<Rows, Vectors>(sums, tile);
}

using Multiply = void (*)(const Word*, Index, Panel, Index, const Tile&, Fetches&);

template <int... Rows>
Multiply multiply_of(Index rows, Index columns, bool across, std::integer_sequence<int, Rows...>) {
  static constexpr Multiply all[2][2][kMostRows] = {
      {{multiply<Rows + 1, 1, false>...}, {multiply<Rows + 1, 2, false>...}},
      {{multiply<Rows + 1, 1, true>...}, {multiply<Rows + 1, 2, true>...}}};
  return all[across][columns > kLanes][rows - 1];
}
