// Types of vectors of kVectorBytes, and what bf16 needs on every instruction set. Included by vectors_*.inl.

template <class T>
constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(T));
template <class T>
using Vec __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias)) = T;
template <class T>
using IntOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
using Wide = Vec<std::uint64_t>;
using Words = Vec<std::uint32_t>;
typedef std::uint16_t Halves __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));

// bf16 in the low halves of words: rounded to nearest even, NaN stays NaN.
inline Words rounded_words(Vec<float> x) {
  const Words word = (Words)x;
  const Words rounded = word + 0x7fffU + ((word >> 16) & 1U);
  return (x == x ? rounded : word | 0x400000U) >> 16;
}
