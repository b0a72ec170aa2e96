#include "core/shape.h"

namespace attnlab {

Shape::Shape(std::initializer_list<Index> sizes) {
  for (const Index size : sizes) append(size);
}

void Shape::append(Index size) {
  check(rank_ < kMaxRank, "shape: more than ", kMaxRank, " axes");
  check(size >= 0, "shape: negative size ", size);
  sizes_[static_cast<std::size_t>(rank_++)] = size;
}

Index Shape::count() const {
  Index product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
  return product;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int axis = 0; axis < shape.rank(); ++axis) out << (axis > 0 ? "," : "") << shape[axis];
  return out << ')';
}

}  // namespace attnlab
