// A shape seen around one axis, as [outer, size, inner]. Internal to the ops floor.
#pragma once

#include "core/shape.h"

namespace attnlab::detail {

// The place of an axis, which may count from the end; ShapeError naming `op` if there is none.
inline int axis_of(const char* op, const Shape& shape, int axis) {
  const int at = axis < 0 ? axis + shape.rank() : axis;
  check(at >= 0 && at < shape.rank(), op, ": no axis ", axis, " in ", shape);
  return at;
}

struct AxisView {
  Index outer = 1, size = 1, inner = 1;

  AxisView(const char* op, const Shape& shape, int axis) {
    const int at = axis_of(op, shape, axis);
    for (int i = 0; i < shape.rank(); ++i) (i < at ? outer : i == at ? size : inner) *= shape[i];
  }
};

// The shape with another size for one axis.
inline Shape with_size(const char* op, const Shape& shape, int axis, Index size) {
  const int at = axis_of(op, shape, axis);
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) result.append(i == at ? size : shape[i]);
  return result;
}

}  // namespace attnlab::detail
