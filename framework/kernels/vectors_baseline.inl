// Vectors of 16 bytes. Included inside the namespace of baseline, after <bit>, <cmath>, <cstring>, <limits> and
// <type_traits>.
constexpr Index kVectorBytes = 16;
#include "kernels/vector_types.inl"

// The 64-bit products of the low halves of lanes, which the compiler does not find by itself.
inline Wide product_of_halves(Wide a, Wide b) {
#ifdef __SSE2__
  return (Wide)__builtin_ia32_pmuludq128((Vec<std::int32_t>)a, (Vec<std::int32_t>)b);
#else
  return (a & 0xffffffffU) * (b & 0xffffffffU);
#endif
}

#include "kernels/vectors.inl"
