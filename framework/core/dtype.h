// The three element types of attnlab, chosen at run time: f32, bf16, f64. Kernels are templates over the
// element type; `dispatch` picks the instance. Sums are taken in `Accumulator<T>`: f32, or f64 for f64.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/error.h"

namespace attnlab {

using Index = std::int64_t;

// Brain floating point: the upper half of an f32. Rounds to nearest even; NaN stays NaN.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float value) {  // NOLINT: implicit on purpose, as float is from int
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool nan = (word & 0x7fffffffU) > 0x7f800000U;
    bits = static_cast<std::uint16_t>((nan ? word | 0x400000U : word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }  // NOLINT
};

enum class DType : std::uint8_t { f32, bf16, f64 };

constexpr Index size_of(DType type) { return type == DType::f64 ? 8 : type == DType::f32 ? 4 : 2; }
std::string to_string(DType type);  // "f32", "bf16", "f64"

template <class T>
constexpr DType dtype_of = std::is_same_v<T, double>  ? DType::f64
                           : std::is_same_v<T, float> ? DType::f32
                                                      : DType::bf16;

template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Calls f with a value of the element type, as in dispatch(type, [&](auto zero) { using T = decltype(zero); …
// }).
template <class Function>
decltype(auto) dispatch(DType type, Function&& f) {
  switch (type) {
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(bfloat16{});
    case DType::f64:
      break;
  }
  return f(double{});
}

}  // namespace attnlab
