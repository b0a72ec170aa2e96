// A row-major block of numbers with a shape and an element type; a cheap handle whose copies share the
// memory. Rows may lie apart (`row_stride`), so that columns of a wide matrix are a tensor without a copy;
// all else is contiguous.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/shape.h"

namespace attnlab {

class Tensor {
 public:
  Tensor() = default;                      // holds nothing
  Tensor(const Shape& shape, DType type);  // memory from the pool, contents undefined
  static Tensor zeros(const Shape& shape, DType type);
  static Tensor filled(const Shape& shape, DType type, double value);
  static Tensor from(const Shape& shape, DType type,
                     std::span<const double> values);  // ShapeError on a wrong count
  // A tensor over memory that `owner` keeps alive.
  static Tensor over(std::shared_ptr<std::byte> owner, void* data, const Shape& shape, DType type);

  explicit operator bool() const { return data_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DType type() const { return type_; }
  Index count() const { return shape_.count(); }
  Index rows() const { return shape_.rows(); }
  Index columns() const { return shape_.columns(); }
  Index row_stride() const { return row_stride_; }  // elements from one row to the next
  bool contiguous() const { return row_stride_ == columns() || rows() <= 1; }
  bool unique() const { return owner_.use_count() == 1; }  // the last owner may overwrite it

  void* raw() const { return data_; }
  template <class T>
  T* data() const {  // unchecked but for the type
    if (dtype_of<T> != type_) [[unlikely]]
      wrong_type(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  template <class T>
  std::span<T> values() const {  // contiguous tensors only
    check(contiguous(), "values() of a strided tensor");
    return {data<T>(), static_cast<std::size_t>(count())};
  }

  Tensor reshaped(const Shape& shape) const;           // same memory; ShapeError if counts differ or strided
  Tensor column_view(Index first, Index count) const;  // all rows, some columns, same memory
  Tensor row_view(Index first, Index count) const;     // some rows of a matrix, same memory
  Tensor clone() const;                                // contiguous copy
  Tensor converted(DType type) const;                  // contiguous copy of another type
  std::vector<double> to_doubles() const;              // for tests, probes and reports
  void fill(double value) const;
  void copy_from(const Tensor& other) const;  // same shape; converts the type

 private:
  [[noreturn]] void wrong_type(DType read_as) const;
  std::shared_ptr<std::byte> owner_;
  void* data_ = nullptr;
  Shape shape_;
  Index row_stride_ = 0;
  DType type_ = DType::f32;
};

// dst += src, same shape, types may differ; either may be strided.
void accumulate(const Tensor& src, const Tensor& dst);

}  // namespace attnlab
