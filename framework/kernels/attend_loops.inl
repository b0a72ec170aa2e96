// The loops of attend_loops.h for vectors of kVectorBytes. Included inside a namespace of its own, once for
// each instruction set, after the headers that it needs.

// kRows x (kVectors vectors) of c, kept in registers over the whole depth.
template <class T, int kRows, int kVectors, bool kSkipZeros>
inline void tile(const BlockProduct<T>& p, Index row, Index column) {
  Vec<T> sums[kRows][kVectors] = {};
  const Index a_row = p.a_row, a_step = p.a_step, b_row = p.b_row, c_row = p.c_row;
  T* c = p.c + row * c_row + column;
  if (p.accumulate) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = at(c + r * c_row + v * kLanes<T>);
  }
  const T* a = p.a + row * a_row;
  const T* b = p.b + column;
  for (Index k = p.depth; k > 0; --k, a += a_step, b += b_row) {
    if (kSkipZeros && *a == 0) continue;
    Vec<T> factors[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) factors[v] = at(b + v * kLanes<T>);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const T factor = a[r * a_row];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factors[v] * factor;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) at(c + r * c_row + v * kLanes<T>) = sums[r][v];
}

// As many rows as leave registers for the factors.
template <int kVectors>
constexpr Index kMostRows = kVectorBytes == 64 ? (kVectors == 2 ? 8 : 16) : (kVectors == 2 ? 6 : 12);

template <class T, int kVectors, int kRows>
inline void tile_of(const BlockProduct<T>& p, Index row, Index column, Index rows) {
  if constexpr (kRows > 1)
    if (rows < kRows) return tile_of<T, kVectors, kRows - 1>(p, row, column, rows);
  tile<T, kRows, kVectors, false>(p, row, column);
}

template <class T, int kVectors>
inline void strip(const BlockProduct<T>& p, Index column) {
  constexpr Index kMost = kMostRows<kVectors>;
  for (Index row = 0; row < p.rows;) {
    const Index left = p.rows - row;
    const Index rows = left >= 2 * kMost ? kMost : left > kMost ? (left + 1) / 2 : left;  // no thin last tile
    tile_of<T, kVectors, kMost>(p, row, column, rows);
    row += rows;
  }
}

template <class T>
void product(const BlockProduct<T>& p) {
  Index column = 0;
  for (; column + 2 * kLanes<T> <= p.columns; column += 2 * kLanes<T>) strip<T, 2>(p, column);
  if (column < p.columns) strip<T, 1>(p, column);
}

template <class T>
void product_skipping_zeros(const BlockProduct<T>& p) {
  for (Index column = 0; column < p.columns; column += kLanes<T>)
    for (Index row = 0; row < p.rows; ++row) tile<T, 1, 1, true>(p, row, column);
}

// Takes lanes from a and b in turn: the first halves of both, or the second.
template <class T, bool kSecond>
inline Vec<T> interleave(Vec<T> a, Vec<T> b) {
  constexpr Index kCount = kLanes<T>;
  Vec<IntOf<T>> order;
  for (Index i = 0; i < kCount; ++i) order[i] = (kSecond ? kCount / 2 : 0) + i / 2 + (i % 2 ? kCount : 0);
  return __builtin_shuffle(a, b, order);
}

// A square block, turned around: each round of interleaving brings rows that were half a block apart next to
// each other.
template <class T>
inline void turn(Vec<T> (&block)[kLanes<T>], Vec<T> (&next)[kLanes<T>]) {
  constexpr int kCount = static_cast<int>(kLanes<T>);
#pragma GCC unroll 4
  for (int round = 1; round < kCount; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kCount / 2; ++i) {
      next[2 * i] = interleave<T, false>(block[i], block[i + kCount / 2]);
      next[2 * i + 1] = interleave<T, true>(block[i], block[i + kCount / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) block[i] = next[i];
  }
}

template <class T>
void transpose(const T* in, Index stride, Index rows, Index columns, T factor, T* out, Index out_row) {
  constexpr int kCount = static_cast<int>(kLanes<T>);
  for (Index row = 0; row < out_row; row += kCount)
    for (Index column = 0; column < columns; column += kCount) {
      Vec<T> block[kCount], next[kCount];
      for (int i = 0; i < kCount; ++i)
        block[i] = row + i < rows ? at(in + (row + i) * stride + column) * factor : Vec<T>{};
      turn<T>(block, next);
      for (int i = 0; i < kCount; ++i) at(out + (column + i) * out_row + row) = block[i];
    }
}

#include "kernels/attend_loops_query.inl"

template <class T>
bool finite(const T* in, Index stride, Index rows, Index columns) {
  Vec<T> zero{};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; j += kLanes<T>) zero += at(in + i * stride + j) * T{};
  T sum{};
  for (Index i = 0; i < kLanes<T>; ++i) sum += zero[i];
  return sum == 0;
}

// All ones where key s is visible to the queries from `lane` on.
template <class T>
inline Vec<IntOf<T>> visible(const WeightBlock<T>& w, Index lane, Index s) {
  using Int = IntOf<T>;
  typedef std::int32_t Narrow __attribute__((vector_size(4 * kLanes<T>), aligned(4), may_alias));
  const auto key = static_cast<Int>(s);
  const auto begin = __builtin_convertvector(*reinterpret_cast<const Narrow*>(w.begin + lane), Vec<Int>);
  const auto end = __builtin_convertvector(*reinterpret_cast<const Narrow*>(w.end + lane), Vec<Int>);
  return (begin <= key) & (end > key);
}

// All ones where dropout keeps the weight of key s.
template <class T>
inline Vec<IntOf<T>> kept(const WeightBlock<T>& w, Index lane, Index s) {
  using Int = IntOf<T>;
  typedef std::uint32_t Narrow __attribute__((vector_size(4 * kLanes<T>), aligned(4), may_alias));
  const Index word = (s / 8 - w.dropout.first_group) * 4 + s % 8 / 2;
  const Narrow bits = *reinterpret_cast<const Narrow*>(w.dropout.words + word * w.queries + lane);
  const Narrow drawn = s % 2 ? bits >> 16 : bits & 0xffffU;
  return __builtin_convertvector(drawn, Vec<Int>) >= static_cast<Int>(w.dropout.threshold);
}

template <class T>
void softmax(const WeightBlock<T>& w, T* maximum, T* sum, T* rescale) {
  const Vec<T> none = Vec<T>{} - std::numeric_limits<T>::infinity();
  for (Index lane = 0; lane < w.queries; lane += kLanes<T>) {
    T* scores = w.scores + lane;
    Vec<T> most = at(maximum + lane);
    const Vec<T> before = most;
    for (Index s = 0; s < w.keys; ++s) {
      Vec<T> x = at(scores + s * w.queries);
      if (w.masked) at(scores + s * w.queries) = x = visible(w, lane, w.first_key + s) ? x : none;
      most = larger(x, most);
    }
    const Vec<T> shift = most == none ? Vec<T>{} : most;
    Vec<T> total{};
    for (Index s = 0; s < w.keys; ++s) {
      Vec<T> p = power(at(scores + s * w.queries) - shift);
      total += p;
      if (w.dropout.words) p = kept(w, lane, w.first_key + s) ? p : Vec<T>{};
      at(scores + s * w.queries) = p;
    }
    const Vec<T> factor = power(before - shift);
    at(rescale + lane) = factor;
    at(sum + lane) = at(sum + lane) * factor + total;
    at(maximum + lane) = most;
  }
}

// Weight and gradient of one key for a vector of queries.
template <class T>
struct Pair {
  Vec<T> weight, dropped, d_weight;
};

template <class T>
inline Pair<T> weigh(const WeightBlock<T>& w, Index lane, Index s, Vec<T> shift, Vec<T> inverse) {
  const Index place = s * w.queries + lane;
  const T scale = static_cast<T>(w.dropout.keep_scale);
  Pair<T> pair;
  pair.weight = power(at(w.scores + place) - shift) * inverse;
  pair.d_weight = at(w.d_weights + place);
  if (w.masked) {
    const auto seen = visible(w, lane, w.first_key + s);
    pair.weight = seen ? pair.weight : Vec<T>{};
    pair.d_weight = seen ? pair.d_weight : Vec<T>{};
  }
  pair.dropped = pair.weight;
  if (w.dropout.words) {
    const auto keep = kept(w, lane, w.first_key + s);
    pair.dropped = keep ? pair.weight * scale : Vec<T>{};
    pair.d_weight = keep ? pair.d_weight * scale : Vec<T>{};
  }
  return pair;
}

template <class T>
void softmax_backward(const WeightBlock<T>& w, const T* maximum, const T* inverse, const T* center) {
  const Vec<T> none = Vec<T>{} - std::numeric_limits<T>::infinity();
  for (Index lane = 0; lane < w.queries; lane += kLanes<T>) {
    const Vec<T> most = at(maximum + lane), factor = at(inverse + lane);
    const Vec<T> shift = most == none ? Vec<T>{} : most;
    Vec<T> middle{};
    if (center) {
      middle = at(center + lane);
    } else {
      for (Index s = 0; s < w.keys; ++s) {
        const Pair<T> pair = weigh<T>(w, lane, s, shift, factor);
        middle += pair.weight * pair.d_weight;
      }
    }
    for (Index s = 0; s < w.keys; ++s) {
      const Pair<T> pair = weigh<T>(w, lane, s, shift, factor);
      const Vec<T> d_score = pair.weight * (pair.d_weight - middle);
      at(w.scores + s * w.queries + lane) = pair.dropped;
      at(w.d_weights + s * w.queries + lane) = pair.weight == T{} ? Vec<T>{} : d_score;
    }
  }
}

template <class T>
void invert(Index count, T* x) {
  for (Index i = 0; i < count; ++i) x[i] = x[i] == 0 ? T{} : 1 / x[i];
}

template <class T>
void load(const void* in, DType type, Index stride, Index rows, Index width, Index padded, T* out) {
  const auto* same = static_cast<const T*>(in);
  const auto* half = static_cast<const std::uint16_t*>(in);
  const Index whole = width / kLanes<T> * kLanes<T>;
  for (Index i = 0; i < rows; ++i, same += stride, half += stride, out += padded) {
    for (Index j = whole; j < padded; j += kLanes<T>) at(out + j) = Vec<T>{};
    if constexpr (sizeof(T) == 4) {
      if (type == DType::bf16) {
        for (Index j = 0; j < whole; j += kLanes<T>)
          at(out + j) = widen(*reinterpret_cast<const Halves*>(half + j));
        for (Index j = whole; j < width; ++j) out[j] = std::bit_cast<float>(std::uint32_t{half[j]} << 16);
        continue;
      }
    }
    for (Index j = 0; j < whole; j += kLanes<T>) at(out + j) = at(same + j);
    for (Index j = whole; j < width; ++j) out[j] = same[j];
  }
}

template <class T>
inline void store_same(const T* in, Index width, T factor, T* out, bool add) {
  Index j = 0;
  for (; j + kLanes<T> <= width; j += kLanes<T>) {
    const Vec<T> x = at(in + j) * factor;
    at(out + j) = add ? at(out + j) + x : x;
  }
  for (; j < width; ++j) out[j] = add ? out[j] + in[j] * factor : in[j] * factor;
}

inline void store_half(const float* in, Index width, float factor, std::uint16_t* out, bool add) {
  constexpr Index kCount = kLanes<float>;
  const auto part = [&](Index j, Index count) {
    float values[kCount] = {};
    std::uint16_t halves[kCount] = {};
    std::memcpy(values, in + j, static_cast<std::size_t>(count) * 4);
    std::memcpy(halves, out + j, static_cast<std::size_t>(count) * 2);
    Vec<float> x = at(values) * factor;
    if (add) x += widen(*reinterpret_cast<const Halves*>(halves));
    *reinterpret_cast<Halves*>(halves) = narrow(x);
    std::memcpy(out + j, halves, static_cast<std::size_t>(count) * 2);
  };
  Index j = 0;
  for (; j + kCount <= width; j += kCount) part(j, kCount);
  if (j < width) part(j, width - j);
}

template <class T>
void store(const T* in, Index in_row, Index rows, Index width, T factor, const T* factors, void* out,
           DType type, Index stride, bool add) {
  for (Index i = 0; i < rows; ++i, in += in_row) {
    const T by = factors ? factor * factors[i] : factor;
    if constexpr (sizeof(T) == 4) {
      if (type == DType::bf16) {
        store_half(in, width, by, static_cast<std::uint16_t*>(out) + i * stride, add);
        continue;
      }
    }
    store_same(in, width, by, static_cast<T*>(out) + i * stride, add);
  }
}

template <class T>
void row_products(const T* a, Index a_row, const T* b, Index b_row, Index rows, Index columns, T* sums) {
  for (Index i = 0; i < rows; ++i) {
    Vec<T> sum{};
    for (Index j = 0; j < columns; j += kLanes<T>) sum += at(a + i * a_row + j) * at(b + i * b_row + j);
    T total{};
    for (Index j = 0; j < kLanes<T>; ++j) total += sum[j];
    sums[i] = total;
  }
}

template <class T>
void scale_rows(T* x, Index rows, Index columns, const T* factors) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; j += kLanes<T>) at(x + i * columns + j) *= factors[i];
}

template <class T>
void mask_and_sum(const WeightBlock<T>& w, T* sum) {
  for (Index lane = 0; lane < w.queries; lane += kLanes<T>) {
    Vec<T> total = at(sum + lane);
    for (Index s = 0; s < w.keys; ++s) {
      T* weight = w.scores + s * w.queries + lane;
      if (w.masked) at(weight) = visible(w, lane, w.first_key + s) ? at(weight) : Vec<T>{};
      total += at(weight);
    }
    at(sum + lane) = total;
  }
}

template <class T>
void shift_and_mask(const WeightBlock<T>& w, const T* shift) {
  for (Index lane = 0; lane < w.queries; lane += kLanes<T>)
    for (Index s = 0; s < w.keys; ++s) {
      T* weight = w.scores + s * w.queries + lane;
      T* d_weight = w.d_weights + s * w.queries + lane;
      Vec<T> d = at(d_weight) + at(shift + lane);
      if (w.masked) {
        const auto seen = visible(w, lane, w.first_key + s);
        d = seen ? d : Vec<T>{};
        at(weight) = seen ? at(weight) : Vec<T>{};
      }
      at(d_weight) = d;
    }
}

inline void draw(std::uint64_t key, std::uint64_t step, const std::uint64_t* base, Index queries,
                 Index first_group, Index groups, std::uint32_t* words) {
  constexpr Index kWide = kLanes<std::uint32_t>;
  for (Index lane = 0; lane < queries; lane += kWide)
    for (Index g = 0; g < groups; ++g) {
      const auto block = static_cast<std::uint64_t>(first_group + g);
      Words c[4];
      draw_blocks(key, step, at(base + lane) + block, at(base + lane + kWide / 2) + block, c);
      for (Index i = 0; i < 4; ++i) at(words + (g * 4 + i) * queries + lane) = c[i];
    }
}

template <class T>
AttendLoops<T> table() {
  return {kLanes<float>,  // of both types, so that `draw` may use whole vectors of words
          sizeof(T) == 4 ? static_cast<T>(1.44269504088896340736) : T{1},
          product<T>,
          product_skipping_zeros<T>,
          transpose<T>,
          finite<T>,
          softmax<T>,
          attend_query<T>,
          softmax_backward<T>,
          invert<T>,
          load<T>,
          store<T>,
          row_products<T>,
          scale_rows<T>,
          mask_and_sum<T>,
          shift_and_mask<T>,
          draw};
}
