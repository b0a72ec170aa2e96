// Attention of a query on its own, as in decoding: where the lanes of a vector were queries all but one would
// be idle, so here they are keys. Every sum is the chain that it is there, so that the bits are the same.
// Included by attend_loops.inl.

// The lines of a row that will be read soon.
template <class T>
inline void fetch_row(const T* row, Index width) {
  for (Index j = 0; j < width; j += 64 / static_cast<Index>(sizeof(T))) __builtin_prefetch(row + j);
}

// A square block, turned around; in place of rows beyond the last it reads that one again.
template <class T>
inline void load_turned(const T* in, Index stride, Index rows, Vec<T> (&block)[kLanes<T>]) {
  constexpr Index kCount = kLanes<T>;
  Vec<T> next[kCount];
#pragma GCC unroll 16
  for (Index i = 0; i < kCount; ++i) block[i] = at(in + (i < rows ? i : rows - 1) * stride);
  turn<T>(block, next);
}

// Scores of keys [s, s + kVectors * lanes), each a chain of multiply-adds; minus infinity beyond the last
// key.
template <class T, int kVectors>
inline void score_keys(const QueryTile<T>& p, Index s) {
  constexpr Index kCount = kLanes<T>, kLine = 64 / static_cast<Index>(sizeof(T));
  Vec<T> scores[kVectors] = {};
  for (Index j = 0; j < p.width; j += kCount)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const Index first = s + v * kCount, rows = p.keys - first;
      if (p.fetch_values && j % kLine == 0)
        for (Index i = first; i < first + (rows < kCount ? rows : kCount); ++i)
          __builtin_prefetch(p.value + i * p.value_row + j);
      Vec<T> block[kCount];
      load_turned<T>(p.key + first * p.key_row + j, p.key_row, rows, block);
#pragma GCC unroll 16
      for (Index i = 0; i < kCount; ++i) scores[v] += block[i] * p.query[j + i];
    }
  const Vec<T> none = Vec<T>{} - std::numeric_limits<T>::infinity();
  Vec<IntOf<T>> number;
  for (Index i = 0; i < kCount; ++i) number[i] = static_cast<IntOf<T>>(i);
  for (int v = 0; v < kVectors; ++v)
    at(p.scores + s + v * kCount) =
        number < static_cast<IntOf<T>>(p.keys - s - v * kCount) ? scores[v] : none;
}

// Some vectors of columns of the weighted sum, in registers over all keys.
template <class T, int kVectors>
inline void add_values(const QueryTile<T>& p, Index column, T rescale) {
  Vec<T> sums[kVectors] = {};
  if (!p.first)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[v] = at(p.sums + column + v * kLanes<T>) * rescale;
  const T* value = p.value + column;
  for (Index s = 0; s < p.keys; ++s, value += p.value_row) {
    if (p.next_key) fetch_row(p.next_key + s * p.key_row + column, kVectors * kLanes<T>);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[v] += at(value + v * kLanes<T>) * p.scores[s];
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) at(p.sums + column + v * kLanes<T>) = sums[v];
}

template <class T>
void attend_query(const QueryTile<T>& p, T* maximum, T* total) {
  constexpr Index kCount = kLanes<T>;
  Index s = 0;
  for (; s + kCount < p.keys; s += 2 * kCount) score_keys<T, 2>(p, s);
  if (s < p.keys) score_keys<T, 1>(p, s);
  T most = *maximum;
  for (Index i = 0; i < p.keys; ++i) most = p.scores[i] > most ? p.scores[i] : most;
  const T shift = most == -std::numeric_limits<T>::infinity() ? T{} : most;
  for (s = 0; s < p.keys; s += kCount) at(p.scores + s) = power(at(p.scores + s) - shift);
  T sum{};
  for (Index i = 0; i < p.keys; ++i) sum += p.scores[i];
  const T rescale = power(Vec<T>{} + (*maximum - shift))[0];
  *total = *total * rescale + sum;
  *maximum = most;
  Index column = 0;
  for (; column + 8 * kCount <= p.value_width; column += 8 * kCount) add_values<T, 8>(p, column, rescale);
  for (; column + 2 * kCount <= p.value_width; column += 2 * kCount) add_values<T, 2>(p, column, rescale);
  if (column < p.value_width) add_values<T, 1>(p, column, rescale);
}
