// Operands of f32 as words of one number. Included after matmul_vectors_*.inl, which has `turn` in words.

using Number = float;
constexpr Index kPerWord = 1;

// The words of some lanes that lie in one line; there is no second.
inline Vector line_words(const Number* line, const Number*, Mask mask) { return load(line, mask); }
inline Word word_of(const Number* numbers, bool) { return std::bit_cast<Word>(*numbers); }
inline Vector add_product(Vector sum, Word a, Vector b) {
  return multiply_add(all(std::bit_cast<float>(a)), b, sum);
}

inline Vector load(const void* data, DType, Index index, Mask mask) {
  return load(static_cast<const float*>(data) + index, mask);
}
