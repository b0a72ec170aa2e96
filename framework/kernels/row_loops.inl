// The loops of row_loops.h for vectors of kVectorBytes. Included inside a namespace of its own, once for each
// instruction set, after the headers that it needs and after vectors.inl.

using Row = Vec<float>;
using Bits = Vec<std::uint32_t>;
constexpr Index kRowLanes = kLanes<float>;
constexpr float kLog2E = 1.44269504088896340736F;

inline Row load(const float* p) { return at(p); }
inline Row load(const bfloat16* p) {
  return (Row)(__builtin_convertvector(*reinterpret_cast<const Halves*>(p), Bits) << 16);
}

inline void store(float* p, Row v) { at(p) = v; }
inline void store(bfloat16* p, Row v) {
  const Bits bits = (Bits)v;
  const Bits rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const Bits result = (bits & 0x7fffffffU) > 0x7f800000U ? (bits >> 16) | 0x40U : rounded;  // NaN stays NaN
  *reinterpret_cast<Halves*>(p) = __builtin_convertvector(result, Halves);
}

// The last, incomplete vector of a row; missing elements read as `fill`.
template <class T>
inline Row load_some(const T* p, Index count, float fill) {
  T buffer[kRowLanes];
  for (Index i = 0; i < kRowLanes; ++i) buffer[i] = i < count ? p[i] : static_cast<T>(fill);
  return load(buffer);
}
template <class T>
inline void store_some(T* p, Index count, Row v) {
  T buffer[kRowLanes];
  store(buffer, v);
  for (Index i = 0; i < count; ++i) p[i] = buffer[i];
}

// Calls f(column, load, store) for each vector of a row: load(pointer, fill) and store(pointer, value).
template <class Function>
inline void each_vector(Index columns, Function f) {
  const Index whole = columns / kRowLanes * kRowLanes;
  for (Index j = 0; j < whole; j += kRowLanes)
    f(j, [](const auto* p, float) { return load(p); }, [](auto* p, Row v) { store(p, v); });
  if (const Index rest = columns - whole; rest > 0)
    f(whole, [rest](const auto* p, float fill) { return load_some(p, rest, fill); },
      [rest](auto* p, Row v) { store_some(p, rest, v); });
}

inline float sum_of(Row v) {
  float sum = 0;
  for (Index i = 0; i < kRowLanes; ++i) sum += v[i];
  return sum;
}

template <class T>
RowStatistics statistics(const T* x, Index columns) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  Row most = Row{} + kNone, total{};
  each_vector(columns, [&](Index j, auto read, auto) {
    const Row v = read(x + j, kNone);
    most = v > most ? v : most;
  });
  float maximum = kNone;
  for (Index i = 0; i < kRowLanes; ++i) maximum = most[i] > maximum ? most[i] : maximum;
  Row sum{};
  each_vector(columns, [&](Index j, auto read, auto) {
    sum += power((read(x + j, kNone) - maximum) * kLog2E);
    total += read(x + j, 0);
  });
  return {maximum, sum_of(sum), sum_of(total)};
}

template <class T>
void softmax_gradient(const T* x, Index columns, float log_sum, float scale, float shift, bool add, T* dx) {
  each_vector(columns, [=](Index j, auto read, auto write) {
    Row v = power((read(x + j, 0) - log_sum) * kLog2E) * scale - shift;
    if (add) v += read(dx + j, 0);
    write(dx + j, v);
  });
}

template <class T>
NormMoments norm(const T* x, Index columns, float epsilon, const T* gain, const T* bias, T* y) {
  Row sum{}, squares{};
  each_vector(columns, [&](Index j, auto read, auto) { sum += read(x + j, 0); });
  const float mean = sum_of(sum) / static_cast<float>(columns);
  each_vector(columns, [&](Index j, auto read, auto) {
    const Row centred = read(x + j, mean) - mean;
    squares += centred * centred;
  });
  const float inverse = 1 / std::sqrt(sum_of(squares) / static_cast<float>(columns) + epsilon);
  each_vector(columns, [=](Index j, auto read, auto write) {
    Row v = (read(x + j, 0) - mean) * inverse;
    if (gain) v *= read(gain + j, 0);
    if (bias) v += read(bias + j, 0);
    write(y + j, v);
  });
  return {mean, inverse};
}

template <class T>
void norm_backward(const T* x, const T* dy, Index columns, NormMoments m, const T* gain, bool add, T* dx, float* gain_sum,
                   float* bias_sum) {
  Row sum{}, product{};
  each_vector(columns, [&](Index j, auto read, auto write) {
    const Row d = read(dy + j, 0), z = (read(x + j, m.mean) - m.mean) * m.inverse_deviation;
    const Row dz = gain ? d * read(gain + j, 0) : d;
    sum += dz;
    product += dz * z;
    if (gain_sum) write(gain_sum + j, read(gain_sum + j, 0) + d * z);
    if (bias_sum) write(bias_sum + j, read(bias_sum + j, 0) + d);
  });
  if (dx == nullptr) return;
  const float mean_dz = sum_of(sum) / static_cast<float>(columns), mean_product = sum_of(product) / static_cast<float>(columns);
  each_vector(columns, [=](Index j, auto read, auto write) {
    const Row d = read(dy + j, 0), z = (read(x + j, m.mean) - m.mean) * m.inverse_deviation;
    const Row dz = gain ? d * read(gain + j, 0) : d;
    Row v = (dz - mean_dz - z * mean_product) * m.inverse_deviation;
    if (add) v += read(dx + j, 0);
    write(dx + j, v);
  });
}

template <class T>
void combine(const T* x, const float* factors, const T* base, float base_scale, Index columns, bool add, T* y) {
  each_vector(columns, [=](Index j, auto read, auto write) {
    Row v = read(x + j, 0);
    if (factors) {
      const Row factor = read(factors + j, 0);
      v = factor == 0 ? Row{} : v * factor;
    }
    if (base) v += read(base + j, 0) * base_scale;
    if (add) v += read(y + j, 0);
    write(y + j, v);
  });
}

template <class T>
void add_to(const T* x, Index columns, float* sums) {
  each_vector(columns, [=](Index j, auto read, auto write) { write(sums + j, read(sums + j, 0) + read(x + j, 0)); });
}

// 128 columns take 16 Philox blocks; column j of them takes half j % 2 of word j / 32 of block j % 32 / 2, whatever the
// length of vectors.
inline void dropout_factors(const DropoutRow& row, Index columns, float* factors) {
  typedef std::uint16_t Half __attribute__((may_alias));
  constexpr Index kBlocks = 16, kColumns = 128;
  const auto blocks = static_cast<std::uint64_t>((columns + kColumns - 1) / kColumns * kBlocks);
  for (Index first = 0; first < columns; first += kColumns) {
    std::uint32_t words[4 * kBlocks];
    for (Index b = 0; b < kBlocks; b += kRowLanes) {
      Wide index{};
      for (Index i = 0; i < kLanes<std::uint64_t>; ++i) index[i] = static_cast<std::uint64_t>(i);
      index += row.row * blocks + static_cast<std::uint64_t>(first / kColumns * kBlocks + b);
      Words c[4];
      draw_blocks(row.key, row.step, index, index + static_cast<std::uint64_t>(kRowLanes / 2), c);
      for (Index w = 0; w < 4; ++w) at(words + w * kBlocks + b) = c[w];
    }
    const auto* halves = reinterpret_cast<const Half*>(words);
    float last[kColumns];
    const bool whole = first + kColumns <= columns;
    float* out = whole ? factors + first : last;
    for (Index j = 0; j < kColumns; j += kRowLanes) {
      const Words drawn = __builtin_convertvector(*reinterpret_cast<const Halves*>(halves + j), Words);
      at(out + j) = drawn < row.threshold ? Row{} : Row{} + row.scale;
    }
    if (!whole) std::copy_n(last, columns - first, factors + first);
  }
}

template <class T>
RowLoops<T> row_table() {
  return {statistics<T>, softmax_gradient<T>, norm<T>, norm_backward<T>, combine<T>, add_to<T>, dropout_factors};
}
