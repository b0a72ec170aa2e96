// The product of a block from the tiles of matmul_loops_tile.inl: panels of b are packed, a part of its
// columns at a time; rows of a mostly lie in memory as words already.

constexpr Index kMostWordsDeep = 512;  // of one pass: rows of a tile then stay in the first cache
constexpr Index kWays = 8;             // that cache keeps so many lines of the same place at least, and
constexpr Index kConflict = 4096 / static_cast<Index>(sizeof(Number));  // rows so far apart have theirs there
constexpr Index kMostSums = Index{1} << 17;  // kept between passes: half of the second cache

bool is_plain(const MatmulOptions& options) {
  return options.alpha == 1 && options.bias == nullptr && !options.accumulate &&
         options.activation == Activation::none;
}

// Whether rows of a can be read where they lie.
bool needs_packing(const MatrixView& a) {
  if (kPerWord == 1 && a.transposed) return !suits_across(a.stride);
  return a.transposed || (kMostRows > kWays && a.stride % kConflict == 0) ||
         (a.stride | a.columns) % kPerWord != 0 ||
         reinterpret_cast<std::uintptr_t>(a.data) % sizeof(Word) != 0;
}

// Whether b is better read where it lies: by few rows, and fewer if its lines push each other out of the
// cache.
bool suits_in_place(const MatrixView& b, Index strips) {
  return kPerWord == 1 && !b.transposed && strips <= (b.stride % kConflict == 0 ? kFewInConflict : kFew);
}

// Whether whole vectors of c can be stored past the cache.
bool can_bypass(const MutableMatrixView& c) {
  return c.type == DType::f32 && (c.columns | c.stride) % kLanes == 0 &&
         reinterpret_cast<std::uintptr_t>(c.data) % sizeof(Vector) == 0;
}

Index words_of(Index depth) { return (depth + kPerWord - 1) / kPerWord; }

// How often a block goes over parts of its depth.
Index passes_of(Index depth) { return (words_of(depth) + kMostWordsDeep - 1) / kMostWordsDeep; }

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
        strips_((c.rows + kMostRows - 1) / kMostRows),
        in_place_(suits_in_place(b, strips_)) {
    const Index passes = passes_of(a.columns);
    depth_ = words_of((a.columns + passes - 1) / passes) * kPerWord;
    const Index words = words_of(depth_);
    thread_local Scratch rows, panels, sums;
    const auto size = [](Index count) { return static_cast<std::size_t>(count); };
    if (packed_) rows_ = rows.array<Word>(size(strips_ * words * kLanes));
    chunk_ = std::max<Index>(1, kMostWords / (words * kPanel)) * kPanel;
    panels_ = panels.array<Word>(size(words * std::min(chunk_, sums_stride())));
    if (passes > 1) sums_ = sums.array<float>(size(c.rows * sums_stride()));
  }

  void run() {
    for (Index k = 0; k < a_.columns; k += depth_) pass(k, std::min(depth_, a_.columns - k));
    if (bypass_) finish_bypass();
  }

 private:
  Index first_row(Index strip) const { return c_.rows * strip / strips_; }
  Index sums_stride() const { return (c_.columns + kPanel - 1) / kPanel * kPanel; }
  const Number* a_at(Index row, Index k) const {
    return static_cast<const Number*>(a_.data) + (a_.transposed ? k * a_.stride + row : row * a_.stride + k);
  }
  const Number* b_at(Index k, Index column) const {
    return static_cast<const Number*>(b_.data) +
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
    const Index words = words_of(depth);
    Together groups(a_at(0, k), a_.stride, depth, kLanes);
    for (Index strip = 0; strip < strips_; ++strip) {
      const Index row = first_row(strip), rows = first_row(strip + 1) - row;
      Word* out = rows_ + strip * words * kLanes;
      if (a_.transposed)
        groups.add({row, lanes_mask(rows), out});
      else
        pack_along(a_at(row, k), a_.stride, rows, depth, out, kLanes);
    }
    groups.pack();
  }

  // Whether a panel is read where it lies: rows of b are words already, if all its columns are there.
  bool is_in_place(Index columns) const { return in_place_ && columns >= kPanel; }

  // Columns of b, by panels.
  void pack_columns(Index k, Index depth, Index first, Index columns) const {
    const Index words = words_of(depth);
    Together groups(b_at(k, first), b_.stride, depth, kPanel);
    for (Index column = 0; column < columns; column += kLanes) {
      const Index panel = column / kPanel * kPanel, left = columns - column;
      if (is_in_place(columns - panel)) continue;
      Word* out = panels_ + panel * words + column - panel;
      if (b_.transposed)
        pack_along(b_at(k, first + column), b_.stride, std::min(kLanes, left), depth, out, kPanel);
      else
        groups.add({column, lanes_mask(left), out});
    }
    groups.pack();
  }

  // Rows of c are written from left to right, as far as the chunk goes.
  void multiply_chunk(Index k, Index depth, Index first_column, Index columns) const {
    const Index deep = words_of(depth), end = first_column + columns;
    const Index next = std::clamp<Index>(c_.columns - end, 0, chunk_);
    Fetches fetch;
    fetch.b = b_.transposed ? Fetch(b_at(k, end), b_.stride, next, depth)
                            : Fetch(b_at(k, end), b_.stride, next > 0 ? depth : 0, next);
    const bool last = k + depth >= a_.columns;
    for (Index strip = 0; strip < strips_; ++strip) {
      const Index row = first_row(strip), rows = first_row(strip + 1) - row;
      const Word* words =
          packed_ ? rows_ + strip * deep * kLanes : reinterpret_cast<const Word*>(a_at(row, k));
      if (!packed_ && a_.transposed)
        fetch.a = Fetch(a_at(row + rows, k), a_.stride, strip + 1 < strips_ ? depth : 0, rows);
      else if (!packed_ && strip + 1 < strips_)
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
        const Panel panel = is_in_place(width)
                                ? Panel{reinterpret_cast<const Word*>(b_at(k, column)), b_.stride}
                                : Panel{panels_ + (column - first_column) * deep, kPanel};
        multiply_of(rows, width, packed_ || a_.transposed, std::make_integer_sequence<int, kMostRows>())(
            words, packed_ ? kLanes : a_.stride / kPerWord, panel, deep, tile, fetch);
      }
    }
  }

  MatrixView a_, b_;
  MutableMatrixView c_;
  const MatmulOptions& options_;
  bool bypass_, plain_, packed_;
  Index strips_;
  bool in_place_;
  Index depth_ = 0, chunk_ = 0;
  Word *rows_ = nullptr, *panels_ = nullptr;
  float* sums_ = nullptr;
};

// The product of a block; where sums wait for the next pass, so many rows at a time that they stay in the
// cache.
void product_of(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                const MatmulOptions& options, bool bypass) {
  constexpr Index kFewestRows = 384;  // so many pay for packing b once more
  const bool wait = passes_of(a.columns) > 1;
  const Index most = wait ? std::max(kFewestRows, kMostSums / c.columns) : c.rows;
  const Index parts = (c.rows + most - 1) / most;
  for (Index part = 0; part < parts; ++part) {
    const Index row = c.rows * part / parts, rows = c.rows * (part + 1) / parts - row;
    Product(block_of(a, row, rows, 0, a.columns), b, block_of(c, row, rows, 0, c.columns), options, bypass)
        .run();
  }
}
