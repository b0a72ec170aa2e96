// Vectors of 64 bytes. Included inside the namespace of avx512, after <bit>, <cmath>, <cstring>, <limits> and
// <type_traits>.
constexpr Index kVectorBytes = 64;
#include "kernels/vector_types.inl"

// The 64-bit products of the low halves of lanes, which the compiler does not find by itself.
inline Wide product_of_halves(Wide a, Wide b) {
  return (Wide)__builtin_ia32_pmuludq512_mask((Vec<std::int32_t>)a, (Vec<std::int32_t>)b, Vec<long long>{}, 0xff);
}

#include "kernels/vectors.inl"
