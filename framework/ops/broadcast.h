// Size-1 broadcasting of two shapes, aligned at their last axes: an axis of size 1, or one that is missing in
// front, stands for as many equal ones as the other shape has. Internal to the ops floor.
#pragma once

#include "core/tensor.h"

namespace attnlab::detail {

// The common shape; ShapeError naming `op` where two sizes differ and neither is 1.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);

// How to walk the elements of `whole` in order beside those of two operands: sizes and steps of the axes
// after those of size 1 are dropped and neighbours that behave alike are merged. At least one axis.
struct BroadcastWalk {
  BroadcastWalk(const Shape& whole, const Shape& a, const Shape& b);
  int rank = 0;
  std::array<Index, Shape::kMaxRank> sizes{}, a_steps{}, b_steps{};

  Index columns() const { return sizes[static_cast<std::size_t>(rank - 1)]; }
  Index rows() const;
  // First elements of row `row` (all axes but the last) in a and b.
  std::array<Index, 2> offsets(Index row) const;
};

// Sums a contiguous tensor over the axes that `shape` has as 1 or lacks, in f32 (f64 for f64), always in the
// same order; the result has `shape` and `type`. The tensor itself where there is nothing to do.
Tensor sum_to(const Tensor& x, const Shape& shape, DType type);

}  // namespace attnlab::detail
