// Vectors of 16 bytes for any CPU. Included inside a namespace of its own, after the headers that vectors.inl
// needs.
constexpr Index kVectorBytes = 16;
#include "kernels/vector_types.inl"

inline Wide product_of_halves(Wide a, Wide b) { return (a & 0xffffffffU) * (b & 0xffffffffU); }
inline Words words_of(Halves x) { return __builtin_convertvector(x, Words); }
inline Halves narrow(Vec<float> x) { return __builtin_convertvector(rounded_words(x), Halves); }
inline Vec<float> larger(Vec<float> a, Vec<float> b) { return a > b ? a : b; }
inline Vec<float> root(Vec<float> x) {
  for (Index i = 0; i < kLanes<float>; ++i) x[i] = std::sqrt(x[i]);
  return x;
}
inline bool any(Vec<std::int32_t> x) { return (x[0] | x[1] | x[2] | x[3]) != 0; }
inline void bypass_cache(Halves* p, Halves x) { *p = x; }
inline void finish_bypass() {}

#include "kernels/vectors.inl"
