// IEEE half precision (binary16), as found in files; attnlab does not compute in it.
#pragma once

#include <bit>
#include <cstdint>

namespace attnlab {

// The exact value of a half.
inline float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU, fraction = bits & 0x3ffU;
  if (exponent == 0) {  // zero or subnormal: fraction · 2⁻²⁴
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

// The nearest half, ties to even; overflow gives infinity, NaN stays NaN.
inline std::uint16_t float_to_half(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000U);
  const std::uint32_t magnitude = word & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | 0x7e00U;
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // 65520 and above
  if (magnitude < 0x38800000U) {  // below 2⁻¹⁴: adding 1/2 rounds to a multiple of 2⁻²⁴
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000U));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
}

}  // namespace attnlab
