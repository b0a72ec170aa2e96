// Elementary functions without branches, for loops that the compiler turns into vector code. The f32 versions
// are polynomials, within a few units in the last place as noted; the f64 versions are those of the standard
// library. NaN stays NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attnlab::kernels {

// e^x to 2 units in the last place; 0 below -87 (where the result would be under 2e-38), infinity above 88.8.
[[gnu::always_inline]] inline float vector_exp(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  x = x < -88.0F ? -88.0F : x;
  x = x > 89.0F ? 89.0F : x;
  const float shifted = x * 1.44269504088896341F + kMagic;
  const float n = shifted - kMagic;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;  // ln 2 in two parts
  float p = 0.00139264840953F;
  p = p * r + 0.00836341961987F;
  p = p * r + 0.0416665528051F;
  p = p * r + 0.166665755391F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  const auto power = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kMagic) + 126;
  const float scale = std::bit_cast<float>((power < 0 ? 0 : power) << 23);  // 2^(n - 1)
  return p * scale * 2.0F;
}
[[gnu::always_inline]] inline double vector_exp(double x) { return std::exp(x); }

// 1 / (1 + e^-x).
template <class T>
[[gnu::always_inline]] inline T vector_sigmoid(T x) {
  return T{1} / (T{1} + vector_exp(-x));
}

// tanh x to 3 units in the last place.
[[gnu::always_inline]] inline float vector_tanh(float x) {
  const float size = x < 0.0F ? -x : x, z = x * x;
  float p = -0.00604516509652F;
  p = p * z + 0.0209613291086F;
  p = p * z - 0.0538432631753F;
  p = p * z + 0.133327188456F;
  p = p * z - 0.333333284333F;
  const float small = x + x * z * p;
  const float large = 1.0F - 2.0F / (vector_exp(2.0F * size) + 1.0F);
  const float signed_large = x < 0.0F ? -large : large;
  return size < 0.625F ? small : signed_large;
}
[[gnu::always_inline]] inline double vector_tanh(double x) { return std::tanh(x); }

// The standard normal distribution at x: e^(-x^2 / 2), from which density and distribution follow.
template <class T>
struct Normal {
  T exponential;   // e^(-x^2 / 2); the density is this over sqrt(2 pi)
  T distribution;  // P(X <= x), with a small relative error in both tails
};

[[gnu::always_inline]] inline Normal<float> vector_normal(float x) {
  const float z = (x < 0.0F ? -x : x) * 0.70710678118654752440F;
  const float e = vector_exp(-0.5F * x * x);
  const float t = 1.0F / (1.0F + 0.4F * z);
  float p = 0.0385085090009F;  // e^(z^2) erfc(z) / t for z up to 10, fitted to 4e-8
  p = p * t - 0.127446434881F;
  p = p * t + 0.0584508879864F;
  p = p * t + 0.115858613432F;
  p = p * t + 0.0614656868668F;
  p = p * t + 0.200742548398F;
  p = p * t + 0.200125254967F;
  p = p * t + 0.226673265194F;
  p = p * t + 0.225621706936F;
  const float tail = 0.5F * e * t * p;
  return {e, x < 0.0F ? tail : 1.0F - tail};
}
[[gnu::always_inline]] inline Normal<double> vector_normal(double x) {
  return {std::exp(-0.5 * x * x), 0.5 * std::erfc(-x * 0.70710678118654752440)};
}

}  // namespace attnlab::kernels
