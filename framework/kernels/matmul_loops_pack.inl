// Operands as words of kPerWord numbers, neighbours in k: word p of lane l (a row of a, a column of b) goes to
// out[p * step + l], kLanes at a time; those beyond `lanes`, and what the depth lacks of a word, are
// zeros. Included after matmul_vectors_*.inl and the numbers' own functions.

constexpr Index kLine = 64 / static_cast<Index>(sizeof(Number));  // numbers of a line of the cache

// A lane's numbers follow each other in memory.
inline void pack_along(const Number* m, Index stride, Index lanes, Index depth, Word* out, Index step) {
  constexpr Index kSquare = kLanes * kPerWord;
  Index k = 0;
  for (; k + kSquare <= depth; k += kSquare, out += kLanes * step) {
    if (k % kLine == 0)
      for (Index lane = 0; lane < kLanes; ++lane)  // what comes after these lanes
        _mm_prefetch(reinterpret_cast<const char*>(m + (kLanes + lane) * stride + k), _MM_HINT_T0);
    turn(m + k, stride, lanes, out, step);
  }
  for (; k < depth; k += kPerWord, out += step)
    for (Index lane = 0; lane < kLanes; ++lane)
      out[lane] = lane < lanes ? word_of(m + lane * stride + k, k + 1 < depth) : 0;
}

// Up to kLanes lanes that follow each other in a line of one k, and where their words go.
struct Group {
  Index first;
  Mask mask;
  Word* out;
};

// The lanes of one k follow each other: the lines of a word are read side by side. Groups take turns at some
// lines, so that each line of memory comes into the cache once.
inline void pack_across(const Number* m, Index stride, const Group* groups, int count, Index depth,
                        Index step) {
  constexpr Index kTurn = 16;  // lines
  const Index first = groups[0].first, last = groups[count - 1].first;
  for (Index begin = 0; begin < depth; begin += kTurn) {
    const Index end = std::min(begin + kTurn, depth);
    for (Index k = begin + kTurn; k < end + kTurn; ++k) {
      _mm_prefetch(reinterpret_cast<const char*>(m + k * stride + first), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(m + k * stride + last), _MM_HINT_T0);
    }
    for (int g = 0; g < count; ++g) {
      const Mask mask = groups[g].mask;
      const Number* line = m + begin * stride + groups[g].first;
      Word* out = groups[g].out + begin / kPerWord * step;
      for (Index k = begin; k < end; k += kPerWord, line += kPerWord * stride, out += step) {
        const Vector words = line_words(line, k + 1 < depth ? line + stride : nullptr, mask);
        store(reinterpret_cast<float*>(out), words);
      }
    }
  }
}

// Groups that are packed across in as few sweeps as there are full.
class Together {
 public:
  Together(const Number* m, Index stride, Index depth, Index step)
      : m_(m), stride_(stride), depth_(depth), step_(step) {}
  void add(const Group& group) {
    groups_[count_++] = group;
    if (count_ == kMost) pack();
  }
  void pack() {
    if (count_ > 0) pack_across(m_, stride_, groups_, count_, depth_, step_);
    count_ = 0;
  }

 private:
  static constexpr int kMost = 64 / kLanes;
  const Number* m_;
  Index stride_, depth_, step_;
  Group groups_[kMost];
  int count_ = 0;
};
