// Rotary positions: pairs of columns turned by angles that grow with the position (Su et al. 2021, equation
// 34), so that dot products depend on the distance of two tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tape.h"

namespace attnlab {

// Which columns of a head make a pair: neighbours 2i and 2i + 1, as in the paper, or i and i + K/2, as most
// published weights have it.
enum class RotaryPairs : std::uint8_t { neighbours, halves };

struct Rotation {
  Index heads = 1;
  RotaryPairs pairs = RotaryPairs::halves;
  Tensor angles;  // [positions, K]: column 2i is cos, 2i + 1 sin of pair i; f32, or f64 for f64
  std::vector<std::int32_t> places;  // the position of each row
};

// Turns every head's pairs in x [N, H*K]; K even. ShapeError if rows, columns and angles do not fit.
Var rotate(const Var& x, const Rotation& rotation);

// cos and sin of position * base^(-2i / K), as `Rotation::angles` wants them. K even, else ShapeError.
Tensor rotary_angles(Index positions, Index K, double base, DType type);

}  // namespace attnlab
