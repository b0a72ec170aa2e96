// Vectors of kVectorBytes: exponentials, bf16, random numbers. Included by vectors_*.inl, once for each
// instruction set, after <bit>, <cmath>, <cstring>, <limits> and <type_traits>.

template <class T>
inline Vec<T>& at(T* p) {
  return *reinterpret_cast<Vec<T>*>(p);
}
template <class T>
inline const Vec<T>& at(const T* p) {
  return *reinterpret_cast<const Vec<T>*>(p);
}

inline Vec<double> larger(Vec<double> a, Vec<double> b) { return a > b ? a : b; }

// 2^x for x up to 127, within 2 units in the last place; 0 below -126 and for minus infinity.
inline Vec<float> power(Vec<float> x) {
  const Vec<float> low = Vec<float>{} - 126.0F;
  const Vec<float> magic = Vec<float>{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Vec<float> safe = larger(low, x);               // NaN stays
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

// The f32 that bf16 stands for.
inline Vec<float> widen(Halves x) { return (Vec<float>)(words_of(x) << 16); }

// Random numbers: many blocks of Philox-4x32-10 at once (see core/random.h). A word of the state takes the low
// half of a 64-bit lane, ready to be multiplied; what lies in the high half does not count.
// Here, the four words of the blocks with these numbers.
inline void draw_blocks(std::uint64_t key, std::uint64_t step, Wide index, Wide (&words)[4]) {
  Wide k0 = Wide{} + (key & 0xffffffffU), k1 = Wide{} + (key >> 32);
  Wide c0 = index, c1 = index >> 32, c2 = Wide{} + (step & 0xffffffffU), c3 = Wide{} + (step >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const Wide first = product_of_halves(c0, Wide{} + 0xD2511F53U),
               second = product_of_halves(c2, Wide{} + 0xCD9E8D57U);
    c0 = (second >> 32) ^ c1 ^ k0, c1 = second;
    c2 = (first >> 32) ^ c3 ^ k1, c3 = first;
    k0 += 0x9E3779B9U, k1 += 0xBB67AE85U;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
}

// The low halves of two vectors, one after the other.
inline Words low_halves(Wide first, Wide second) {
  Words order;
  for (std::uint32_t i = 0; i < kLanes<std::uint32_t>; ++i) order[i] = 2 * i;
  return __builtin_shuffle((Words)first, (Words)second, order);
}

// The words of one block number a lane of 32 bits.
inline void draw_blocks(std::uint64_t key, std::uint64_t step, Wide first, Wide second, Words (&words)[4]) {
  Wide low[4], high[4];
  draw_blocks(key, step, first, low);
  draw_blocks(key, step, second, high);
  for (int i = 0; i < 4; ++i) words[i] = low_halves(low[i], high[i]);
}
