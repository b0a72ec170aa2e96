// The loops of row_loops.h for vectors of kVectorBytes. Included inside a namespace of its own, once for each
// instruction set, after the headers that it needs and after vectors.inl.

using Row = Vec<float>;
constexpr Index kRowLanes = kLanes<float>;
constexpr float kLog2E = 1.44269504088896340736F;

inline Row load(const float* p) { return at(p); }
inline Row load(const bfloat16* p) { return widen(*reinterpret_cast<const Halves*>(p)); }

inline void store(float* p, Row v) { at(p) = v; }
inline void store(bfloat16* p, Row v) { *reinterpret_cast<Halves*>(p) = narrow(v); }

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

// All lanes as one number: halves against each other, then quarters, and so on.
template <class Function>
inline float across(Row v, Function f) {
#pragma GCC unroll 4
  for (int step = kRowLanes / 2; step > 0; step /= 2) {
    Vec<std::int32_t> order;
    for (int i = 0; i < kRowLanes; ++i) order[i] = i ^ step;
    v = f(v, __builtin_shuffle(v, order));
  }
  return v[0];
}
struct Sum {
  Row operator()(Row a, Row b) const { return a + b; }
};
struct Largest {
  Row operator()(Row a, Row b) const { return larger(a, b); }
};
inline float sum_of(Row v) { return across(v, Sum()); }

template <class T>
RowStatistics statistics(const T* x, Index columns) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  Row most = Row{} + kNone, total{};
  each_vector(columns, [&](Index j, auto read, auto) {
    most = larger(read(x + j, kNone), most);
  });
  const float maximum = across(most, Largest());
  Row sum{};
  each_vector(columns, [&](Index j, auto read, auto) {
    sum += power((read(x + j, kNone) - maximum) * kLog2E);
    total += read(x + j, 0);
  });
  return {maximum, sum_of(sum), sum_of(total)};
}

template <class T>
Index first_above(const T* x, Index first, Index columns, float threshold) {
  constexpr Index kStep = 4 * kRowLanes;
  Index j = first;
  for (; j + kStep <= columns; j += kStep) {
    const auto above = (load(x + j) > threshold) | (load(x + j + kRowLanes) > threshold) |
                       (load(x + j + 2 * kRowLanes) > threshold) | (load(x + j + 3 * kRowLanes) > threshold);
    if (any(above)) break;
  }
  while (j < columns && !(static_cast<float>(x[j]) > threshold)) ++j;
  return j;
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
void relu(const float* factors, Index columns, T* x) {
  each_vector(columns, [=](Index j, auto read, auto write) {
    Row v = read(x + j, 0);
    v = v <= 0 ? Row{} : v;
    if (factors) {
      const Row factor = read(factors + j, 0);
      v = factor == 0 ? Row{} : v * factor;
    }
    write(x + j, v);
  });
}

template <class T>
void relu_backward(const T* y, float scale, Index columns, T* dy, float* sums) {
  each_vector(columns, [=](Index j, auto read, auto write) {
    const Row v = read(y + j, 0) > 0 ? read(dy + j, 0) * scale : Row{};
    write(dy + j, v);
    if (sums) write(sums + j, read(sums + j, 0) + v);
  });
}

template <class T>
void add_to(const T* x, Index columns, float* sums) {
  each_vector(columns, [=](Index j, auto read, auto write) { write(sums + j, read(sums + j, 0) + read(x + j, 0)); });
}

template <class T>
void round(const float* x, Index columns, T* y) {
  each_vector(columns, [=](Index j, auto read, auto write) { write(y + j, read(x + j, 0)); });
}

inline void store_past_cache(float* p, Row v) { at(p) = v; }
inline void store_past_cache(bfloat16* p, Row v) { bypass_cache(reinterpret_cast<Halves*>(p), narrow(v)); }

template <class T>
void adamw(const AdamWStep& step, Index count, const float* gradient, float* w, float* m, float* v, T* copy,
           bool bypass) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(copy) % sizeof(Halves) == 0;
  const auto update = [=](Index j, auto read, auto write) {
    const Row g = read(gradient + j, 0) * step.scale;
    Row mean = read(m + j, 0), square = read(v + j, 0);
    mean += (g - mean) * step.keep1;
    square = square * step.beta2 + g * step.keep2 * g;
    write(m + j, mean);
    write(v + j, square);
    const Row value =
        read(w + j, 0) * step.shrink - mean * step.step_size / (root(square) * step.second_scale + step.epsilon);
    write(w + j, value);
    return value;
  };
  if (copy == nullptr) return each_vector(count, [=](Index j, auto read, auto write) { update(j, read, write); });
  if (!bypass || !aligned)
    return each_vector(count, [=](Index j, auto read, auto write) { write(copy + j, update(j, read, write)); });
  const Index whole = count / kRowLanes * kRowLanes;
  each_vector(whole, [=](Index j, auto read, auto write) { store_past_cache(copy + j, update(j, read, write)); });
  finish_bypass();
  if (whole < count)
    adamw<T>(step, count - whole, gradient + whole, w + whole, m + whole, v + whole, copy + whole, false);
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
      const Words drawn = words_of(*reinterpret_cast<const Halves*>(halves + j));
      at(out + j) = drawn < row.threshold ? Row{} : Row{} + row.scale;
    }
    if (!whole) std::copy_n(last, columns - first, factors + first);
  }
}

template <class T>
RowLoops<T> row_table() {
  return {statistics<T>, first_above<T>, softmax_gradient<T>, norm<T>, norm_backward<T>, combine<T>, relu<T>, relu_backward<T>, add_to<T>, round<T>, adamw<T>, dropout_factors};
}
