// The sizes of a tensor, at most five of them, row-major. Rows are all sizes but the last, columns the last.
#pragma once

#include <array>
#include <initializer_list>
#include <ostream>

#include "core/dtype.h"

namespace attnlab {

class Shape {
 public:
  static constexpr int kMaxRank = 5;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes);  // ShapeError if there are more than five or one is negative
  template <class Iterator>
  Shape(Iterator first, Iterator last) {
    for (; first != last; ++first) append(*first);
  }

  int rank() const { return rank_; }
  Index operator[](int axis) const {
    return sizes_[static_cast<std::size_t>(axis < 0 ? axis + rank_ : axis)];
  }
  Index count() const;                                                     // number of elements; 1 for rank 0
  Index columns() const { return rank_ == 0 ? 1 : (*this)[-1]; }           // last size
  Index rows() const { return columns() == 0 ? 0 : count() / columns(); }  // product of the others
  void append(Index size);                                                 // one more axis at the end

  bool operator==(const Shape&) const = default;

 private:
  std::array<Index, kMaxRank> sizes_{};
  int rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // (2,3,4)

}  // namespace attnlab
