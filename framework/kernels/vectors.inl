// Vectors of kVectorBytes: exponentials, bf16, random numbers. Included inside a namespace of its own, once
// for each instruction set, after <bit>, <cmath>, <cstring>, <limits> and <type_traits>.

template <class T>
constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(T));
template <class T>
using Vec __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias)) = T;
template <class T>
using IntOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
inline Vec<T>& at(T* p) {
  return *reinterpret_cast<Vec<T>*>(p);
}
template <class T>
inline const Vec<T>& at(const T* p) {
  return *reinterpret_cast<const Vec<T>*>(p);
}

// 2^x for x up to 127, within 2 units in the last place; 0 below -126 and for minus infinity.
inline Vec<float> power(Vec<float> x) {
  const Vec<float> low = Vec<float>{} - 126.0F;
  const Vec<float> magic = Vec<float>{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Vec<float> safe = x < low ? low : x;            // NaN stays
  const Vec<float> shifted = safe + magic;
  const Vec<float> f = safe - (shifted - magic);
  Vec<float> p = f * 1.535336188e-4F + 1.339887440e-3F;
  p = p * f + 9.618437357e-3F;
  p = p * f + 5.550332548e-2F;
  p = p * f + 2.402264791e-1F;
  p = p * f + 6.931472028e-1F;
  p = p * f + 1.0F;
  const Vec<std::int32_t> exponent = (Vec<std::int32_t>)shifted + 127;  // the low bits hold the integer
  const Vec<float> result = p * (Vec<float>)(exponent << 23);
  return x < low ? Vec<float>{} : result;
}

// e^x.
inline Vec<double> power(Vec<double> x) {
  Vec<double> result;
  for (Index i = 0; i < kLanes<double>; ++i) result[i] = std::exp(x[i]);
  return result;
}

// Vectors of bf16 and the f32 that they stand for.
typedef std::uint16_t Halves __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));

inline Vec<float> widen(Halves x) {
  return (Vec<float>)(__builtin_convertvector(x, Vec<std::uint32_t>) << 16);
}
inline Halves narrow(Vec<float> x) {
  const Vec<std::uint32_t> word = (Vec<std::uint32_t>)x;
  const Vec<std::uint32_t> rounded = word + 0x7fffU + ((word >> 16) & 1U);
  const Vec<std::uint32_t> result = x == x ? rounded : word | 0x400000U;
  return __builtin_convertvector(result >> 16, Halves);
}

// Random numbers: many blocks of Philox-4x32-10 at once (see core/random.h).
using Words = Vec<std::uint32_t>;
typedef std::uint64_t WideWords __attribute__((vector_size(2 * kVectorBytes), aligned(8), may_alias));

inline void multiply(std::uint32_t factor, Words x, Words& high, Words& low) {
  const WideWords wide = __builtin_convertvector(x, WideWords) * factor;
  high = __builtin_convertvector(wide >> 32, Words);
  low = __builtin_convertvector(wide, Words);
}

// c: low and high halves of the block indices in, four words of each block out.
inline void draw_block(std::uint64_t key, std::uint64_t step, Words c[4]) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  c[2] = Words{} + static_cast<std::uint32_t>(step);
  c[3] = Words{} + static_cast<std::uint32_t>(step >> 32);
  for (int round = 0; round < 10; ++round) {
    Words high0, low0, high1, low1;
    multiply(0xD2511F53U, c[0], high0, low0);
    multiply(0xCD9E8D57U, c[2], high1, low1);
    c[0] = high1 ^ c[1] ^ k0, c[1] = low1, c[2] = high0 ^ c[3] ^ k1, c[3] = low0;
    k0 += 0x9E3779B9U, k1 += 0xBB67AE85U;
  }
}
