#include "ops/rotate.h"

#include <cmath>
#include <memory>

#include "kernels/rows.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

const Op kRotate{"rotate"};

// One head of one row; `sign` -1 turns back. The pair i is x[i * step] and x[i * step + apart].
template <class T>
[[gnu::always_inline]] inline void turn(const T* x, const Accumulator<T>* angles, Accumulator<T> sign,
                                        Index half, Index step, Index apart, bool add, T* y) {
  using kernels::load;
  for (Index i = 0; i < half; ++i) {
    const Accumulator<T> a = load(x[i * step]), b = load(x[i * step + apart]);
    const Accumulator<T> cos = angles[2 * i], sin = sign * angles[2 * i + 1];
    const Accumulator<T> first = a * cos - b * sin, second = a * sin + b * cos;
    T &to = y[i * step], &other = y[i * step + apart];
    kernels::store(to, add ? load(to) + first : first);
    kernels::store(other, add ? load(other) + second : second);
  }
}

template <class T>
void turn_rows(const Tensor& x, const Rotation& rotation, bool back, const Tensor& y, bool add) {
  using A = Accumulator<T>;
  const Index H = rotation.heads, K = x.columns() / H, half = K / 2;
  const bool neighbours = rotation.pairs == RotaryPairs::neighbours;
  const Index step = neighbours ? 2 : 1, apart = neighbours ? 1 : half;
  const A sign = back ? -1 : 1;
  const T* from = x.data<T>();
  T* to = y.data<T>();
  const A* angles = rotation.angles.data<A>();
  const std::int32_t* places = rotation.places.data();
  const Index from_stride = x.row_stride(), to_stride = y.row_stride();
  kernels::parallel_vectorised(
      x.rows(), kernels::row_grain(x.columns()),
      [ H, K, half, step, apart, sign, from, to, angles, places, from_stride, to_stride,
        add ](Index begin, Index end) __attribute__((always_inline)) {
        for (Index i = begin; i < end; ++i)
          for (Index h = 0; h < H; ++h)
            turn<T>(from + i * from_stride + h * K, angles + places[i] * K, sign, half, step, apart, add,
                    to + i * to_stride + h * K);
      });
}

void check_rotation(const Var& x, const Rotation& rotation) {
  const Index H = rotation.heads, columns = x.shape().columns();
  check(H >= 1 && columns % (2 * H) == 0, "rotate: ", H, " heads of an even width expected, got rows ",
        x.shape());
  check(rotation.angles.columns() == columns / H, "rotate: heads of ", columns / H, " columns, but angles ",
        rotation.angles.shape());
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  check(rotation.angles.type() == type, "rotate: angles in ", to_string(rotation.angles.type()),
        ", expected ", to_string(type));
  check(static_cast<Index>(rotation.places.size()) == x.shape()[0], "rotate: ", rotation.places.size(),
        " places for rows ", x.shape());
  for (const auto place : rotation.places)
    check(place >= 0 && place < rotation.angles.rows(), "rotate: position ", place, ", angles of ",
          rotation.angles.rows(), " positions");
}

}  // namespace

Var rotate(const Var& x, const Rotation& rotation) {
  check_rotation(x, rotation);
  const Tensor y(x.shape(), x.type());
  dispatch(x.type(), [&x, &rotation, &y](auto zero) {
    turn_rows<decltype(zero)>(x.value(), rotation, false, y, false);
  });
  return record(kRotate, {x}, y, [kept = std::make_shared<const Rotation>(rotation)](Gradients& g) {
    const Target to = g.target(0);
    dispatch(g.out().type(), [&g, &kept, &to](auto zero) {
      turn_rows<decltype(zero)>(g.out(), *kept, true, to.buffer, to.add);
    });
  });
}

Tensor rotary_angles(Index positions, Index K, double base, DType type) {
  check(K >= 2 && K % 2 == 0, "rotary positions need heads of an even width, not ", K);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(positions * K));
  for (Index p = 0; p < positions; ++p)
    for (Index i = 0; i < K / 2; ++i) {
      const double rate = std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(K));
      values.push_back(std::cos(static_cast<double>(p) * rate));
      values.push_back(std::sin(static_cast<double>(p) * rate));
    }
  return Tensor::from({positions, K}, type, values);
}

}  // namespace attnlab
