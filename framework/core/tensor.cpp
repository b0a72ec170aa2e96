#include "core/tensor.h"

#include <cstring>

#include "core/parallel.h"
#include "core/pool.h"

namespace attnlab {
namespace {

constexpr Index kGrain = 1 << 14;  // elements worth a thread

// Calls f(source row, destination row, columns) for matching rows of two tensors.
template <class Function>
void each_row(const Tensor& src, const Tensor& dst, Function f) {
  check(src.shape() == dst.shape(), "tensors of shapes ", src.shape(), " and ", dst.shape());
  dispatch(src.type(), [&](auto s) {
    dispatch(dst.type(), [&](auto d) {
      const auto* from = src.data<decltype(s)>();
      auto* to = dst.data<decltype(d)>();
      const bool flat = src.contiguous() && dst.contiguous();
      const Index columns = flat ? 1 : src.columns(), rows = flat ? src.count() : src.rows();
      const Index from_stride = flat ? 1 : src.row_stride(), to_stride = flat ? 1 : dst.row_stride();
      parallel_for(rows, std::max<Index>(1, kGrain / std::max<Index>(columns, 1)),
                   [&](Index begin, Index end) {
                     if (flat) return f(from + begin, to + begin, end - begin);
                     for (Index i = begin; i < end; ++i)
                       f(from + i * from_stride, to + i * to_stride, columns);
                   });
    });
  });
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType type) : shape_(shape), row_stride_(shape.columns()), type_(type) {
  owner_ = Pool::global().take(static_cast<std::size_t>(shape.count() * size_of(type)));
  data_ = owner_.get();
}

Tensor Tensor::zeros(const Shape& shape, DType type) {
  Tensor result(shape, type);
  std::memset(result.data_, 0, static_cast<std::size_t>(shape.count() * size_of(type)));
  return result;
}

Tensor Tensor::filled(const Shape& shape, DType type, double value) {
  Tensor result(shape, type);
  result.fill(value);
  return result;
}

Tensor Tensor::from(const Shape& shape, DType type, std::span<const double> values) {
  check(shape.count() == static_cast<Index>(values.size()), "shape ", shape, " takes ", shape.count(),
        " values, got ", values.size());
  Tensor result(shape, type);
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i) result.data<T>()[i] = static_cast<T>(values[i]);
  });
  return result;
}

Tensor Tensor::over(std::shared_ptr<std::byte> owner, void* data, const Shape& shape, DType type) {
  Tensor result;
  result.owner_ = std::move(owner);
  result.data_ = data;
  result.shape_ = shape;
  result.row_stride_ = shape.columns();
  result.type_ = type;
  return result;
}

void Tensor::wrong_type(DType read_as) const {
  throw ShapeError(join_text("tensor of ", to_string(type_), " read as ", to_string(read_as)));
}

Tensor Tensor::reshaped(const Shape& shape) const {
  check(shape.count() == count(), "reshape of ", shape_, " to ", shape, ": ", count(), " and ", shape.count(),
        " elements");
  check(contiguous() || shape.columns() == columns(), "reshape of a strided tensor ", shape_, " to ", shape);
  Tensor result = *this;
  result.shape_ = shape;
  if (contiguous()) result.row_stride_ = shape.columns();
  return result;
}

Tensor Tensor::column_view(Index first, Index count) const {
  check(first >= 0 && count >= 0 && first + count <= columns(), "columns ", first, " to ", first + count,
        " of ", shape_);
  Tensor result = *this;
  result.shape_ = Shape{};
  for (int axis = 0; axis + 1 < shape_.rank(); ++axis) result.shape_.append(shape_[axis]);
  result.shape_.append(count);
  result.data_ = static_cast<std::byte*>(data_) + first * size_of(type_);
  return result;
}

Tensor Tensor::row_view(Index first, Index count) const {
  check(shape_.rank() == 2 && first >= 0 && count >= 0 && first + count <= shape_[0], "rows ", first, " to ",
        first + count, " of ", shape_);
  Tensor result = *this;
  result.shape_ = Shape{count, columns()};
  result.data_ = static_cast<std::byte*>(data_) + first * row_stride_ * size_of(type_);
  return result;
}

Tensor Tensor::clone() const { return converted(type_); }

Tensor Tensor::converted(DType type) const {
  Tensor result(shape_, type);
  result.copy_from(*this);
  return result;
}

std::vector<double> Tensor::to_doubles() const {
  const Tensor wide = converted(DType::f64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

void Tensor::fill(double value) const {
  dispatch(type_, [&](auto zero) {
    using T = decltype(zero);
    for (Index i = 0; i < rows(); ++i)
      std::fill_n(data<T>() + i * row_stride_, columns(), static_cast<T>(value));
  });
}

void Tensor::copy_from(const Tensor& other) const {
  each_row(other, *this, [](const auto* from, auto* to, Index count) {
    for (Index i = 0; i < count; ++i) to[i] = static_cast<std::decay_t<decltype(*to)>>(from[i]);
  });
}

void accumulate(const Tensor& src, const Tensor& dst) {
  each_row(src, dst, [](const auto* from, auto* to, Index count) {
    for (Index i = 0; i < count; ++i) to[i] = static_cast<std::decay_t<decltype(*to)>>(to[i] + from[i]);
  });
}

}  // namespace attnlab
