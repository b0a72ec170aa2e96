// Rotary positions as a module: the angles are computed once and grow on demand.
#pragma once

#include "nn/positions.h"
#include "ops/rotate.h"

namespace attnlab {

class Rotary {
 public:
  explicit Rotary(const PositionSpec& spec) : base_(spec.rotary_base), pairs_(spec.rotary_pairs) {}
  // Turns the queries or keys of `heads` heads in x [N, heads*K] by their places: sentence b's row t stands
  // at past[b] + t. ShapeError unless K is even.
  Var operator()(const Var& x, Index heads, const Sequences& rows, const std::vector<Index>& past) const;

 private:
  double base_;
  RotaryPairs pairs_;
  mutable Tensor angles_;  // grown on demand, in the accumulator's type
};

}  // namespace attnlab
