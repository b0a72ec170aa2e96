#include "ops/elementwise.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "ops/broadcast.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

using detail::Keeps;

const Op kAdd{"add"}, kSubtract{"subtract"}, kMultiply{"multiply"}, kDivide{"divide"};
const Op kExp{"exp"}, kLog{"log"}, kSqrt{"sqrt"}, kSquare{"square"};
const Op kReciprocal{"reciprocal"}, kTanh{"tanh"}, kSigmoid{"sigmoid"};
const Op kScale{"scale"}, kAddNumber{"add number"}, kMaximum{"maximum with a number"};

struct Plus {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minus {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    return a - b;
  }
};
struct Times {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    return a * b;
  }
};
struct Over {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    return a / b;
  }
};
struct MinusTimes {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    return -(a * b);
  }
};

// One row of a result; the steps of the operands along it are 0 or 1.
template <class F, class T, class Out>
[[gnu::always_inline]] inline void row(const F& f, const T* a, Index a_step, const T* b, Index b_step,
                                       Out* to, Index count) {
  using kernels::load, kernels::store;
  if (a_step == 1 && b_step == 1) {
    for (Index i = 0; i < count; ++i) store(to[i], f(load(a[i]), load(b[i])));
  } else if (a_step == 1) {
    const auto right = load(b[0]);
    for (Index i = 0; i < count; ++i) store(to[i], f(load(a[i]), right));
  } else if (b_step == 1) {
    const auto left = load(a[0]);
    for (Index i = 0; i < count; ++i) store(to[i], f(left, load(b[i])));
  } else {  // both stand for many: the whole is a single number
    store(to[0], f(load(a[0]), load(b[0])));
  }
}

template <class F, class T, class Out>
void walk_rows(const detail::BroadcastWalk& walk, const T* a, const T* b, Out* to) {
  const Index columns = walk.columns();
  const auto last = static_cast<std::size_t>(walk.rank - 1);
  const Index a_step = walk.a_steps[last], b_step = walk.b_steps[last];
  const detail::BroadcastWalk* w = &walk;
  kernels::parallel_vectorised(
      walk.rows() * columns, detail::kElementGrain,
      [ w, a, b, to, columns, a_step, b_step ](Index begin, Index end) __attribute__((always_inline)) {
        for (Index i = begin; i < end;) {
          const Index first = i % columns, count = std::min(columns - first, end - i);
          const auto start = w->offsets(i / columns);
          row(F{}, a + start[0] + first * a_step, a_step, b + start[1] + first * b_step, b_step, to + i,
              count);
          i += count;
        }
      });
}

// f(a, b) broadcast to `whole`; in f32 where `wide`, else in the operands' type.
template <class F>
Tensor combine(const Shape& whole, const Tensor& a, const Tensor& b, bool wide = false) {
  const Tensor left = detail::contiguous(a), right = detail::contiguous(b);
  const DType type = wide && a.type() == DType::bf16 ? DType::f32 : a.type();
  const Tensor y(whole, type);
  if (y.count() == 0) return y;
  const detail::BroadcastWalk walk(whole, a.shape(), b.shape());
  dispatch(a.type(), [&left, &right, &y, &walk](auto zero) {
    using T = decltype(zero);
    if (y.type() == left.type())
      walk_rows<F>(walk, left.data<T>(), right.data<T>(), y.data<T>());
    else
      walk_rows<F>(walk, left.data<T>(), right.data<T>(), y.data<Accumulator<T>>());
  });
  return y;
}

// The gradient of one operand, f(dy, other) summed over the axes along which the operand was broadcast.
template <class F>
void give_summed(Gradients& g, int input, const Shape& shape, const Tensor& dy, const Tensor& other) {
  const bool sums = shape != dy.shape();
  g.give(input, detail::sum_to(combine<F>(dy.shape(), dy, other, sums), shape, dy.type()));
}

Shape check_operands(const Op& op, const Var& a, const Var& b) {
  check(a.type() == b.type(), op.name(), ": operands of ", to_string(a.type()), " and ", to_string(b.type()));
  return detail::broadcast_shape(op.name(), a.shape(), b.shape());
}

// Functions of one variable for detail::unary: value, and slope as a function of what is kept.
template <class Value, class Slope, Keeps What>
struct Function {
  static constexpr Keeps kKeeps = What;
  Value value;
  Slope slope;
};
template <Keeps What, class Value, class Slope>
Var apply(const Op& op, const Var& x, Value value, Slope slope) {
  return detail::unary(op, x, Function<Value, Slope, What>{value, slope});
}

}  // namespace

Var add(const Var& a, const Var& b) {
  const Shape whole = check_operands(kAdd, a, b);
  return record(kAdd, {a, b}, combine<Plus>(whole, a.value(), b.value()),
                [left = a.shape(), right = b.shape()](Gradients& g) {
                  const Tensor dy = detail::contiguous(g.take_out());
                  if (g.wants(0)) g.give(0, detail::sum_to(dy, left, dy.type()));
                  if (g.wants(1)) g.give(1, detail::sum_to(dy, right, dy.type()));
                });
}

Var subtract(const Var& a, const Var& b) {
  const Shape whole = check_operands(kSubtract, a, b);
  return record(kSubtract, {a, b}, combine<Minus>(whole, a.value(), b.value()),
                [left = a.shape(), right = b.shape()](Gradients& g) {
                  const Tensor dy = detail::contiguous(g.take_out());
                  if (g.wants(1)) {
                    const Tensor db = detail::sum_to(dy, right, dy.type());
                    g.give(1, detail::map(
                                  db, [](auto v) __attribute__((always_inline)) { return -v; }));
                  }
                  if (g.wants(0)) g.give(0, detail::sum_to(dy, left, dy.type()));
                });
}

// y = a b: da = dy b, db = dy a, each summed over the broadcast axes.
Var multiply(const Var& a, const Var& b) {
  const Shape whole = check_operands(kMultiply, a, b);
  const Tensor left = b.wants_gradient() ? a.value() : Tensor(),
               right = a.wants_gradient() ? b.value() : Tensor();
  return record(kMultiply, {a, b}, combine<Times>(whole, a.value(), b.value()),
                [left, right, a_shape = a.shape(), b_shape = b.shape()](Gradients& g) {
                  const Tensor dy = g.take_out();
                  if (g.wants(0)) give_summed<Times>(g, 0, a_shape, dy, right);
                  if (g.wants(1)) give_summed<Times>(g, 1, b_shape, dy, left);
                });
}

// y = a / b: da = dy / b, db = -dy y / b.
Var divide(const Var& a, const Var& b) {
  const Shape whole = check_operands(kDivide, a, b);
  const Tensor y = combine<Over>(whole, a.value(), b.value());
  return record(kDivide, {a, b}, y, [y, right = b.value(), a_shape = a.shape()](Gradients& g) {
    const Tensor dy = g.take_out();
    const Tensor da = combine<Over>(y.shape(), dy, right, true);
    if (g.wants(1)) {
      const Tensor db =
          combine<MinusTimes>(y.shape(), da, da.type() == y.type() ? y : y.converted(da.type()));
      g.give(1, detail::sum_to(db, right.shape(), dy.type()));
    }
    if (g.wants(0)) g.give(0, detail::sum_to(da, a_shape, dy.type()));
  });
}

Var exp(const Var& x) {
  return apply<Keeps::output>(
      kExp, x, [](auto v) __attribute__((always_inline)) { return kernels::vector_exp(v); },
      [](auto y) __attribute__((always_inline)) { return y; });
}

Var log(const Var& x) {
  return apply<Keeps::input>(
      kLog, x, [](auto v) { return std::log(v); },
      [](auto v) __attribute__((always_inline)) { return 1 / v; });
}

Var sqrt(const Var& x) {
  return apply<Keeps::output>(
      kSqrt, x, [](auto v) __attribute__((always_inline)) { return std::sqrt(v); },
      [](auto y) __attribute__((always_inline)) { return decltype(y)(0.5) / y; });
}

Var square(const Var& x) {
  return apply<Keeps::input>(
      kSquare, x, [](auto v) __attribute__((always_inline)) { return v * v; },
      [](auto v) __attribute__((always_inline)) { return 2 * v; });
}

Var reciprocal(const Var& x) {
  return apply<Keeps::output>(
      kReciprocal, x, [](auto v) __attribute__((always_inline)) { return 1 / v; },
      [](auto y) __attribute__((always_inline)) { return -y * y; });
}

Var tanh(const Var& x) {
  return apply<Keeps::output>(
      kTanh, x, [](auto v) __attribute__((always_inline)) { return kernels::vector_tanh(v); },
      [](auto y) __attribute__((always_inline)) { return 1 - y * y; });
}

Var sigmoid(const Var& x) {
  return apply<Keeps::output>(
      kSigmoid, x, [](auto v) __attribute__((always_inline)) { return kernels::vector_sigmoid(v); },
      [](auto y) __attribute__((always_inline)) { return y * (1 - y); });
}

Var maximum(const Var& x, double number) {
  return apply<Keeps::input>(
      kMaximum, x,
      [number](auto v) __attribute__((always_inline)) {
        const auto bound = static_cast<decltype(v)>(number);
        return v <= bound ? bound : v;
      },
      [number](auto v) __attribute__((always_inline)) {
        return decltype(v)(v <= static_cast<decltype(v)>(number) ? 0 : 1);
      });
}

Var negate(const Var& x) { return scale(x, -1); }

Var scale(const Var& x, double factor) {
  const auto times = [factor](auto v) __attribute__((always_inline)) {
    return v * static_cast<decltype(v)>(factor);
  };
  return record(kScale, {x}, detail::map(x.value(), times),
                [times](Gradients& g) { g.give(0, detail::map(g.out(), times)); });
}

Var add_number(const Var& x, double number) {
  const auto plus = [number](auto v) __attribute__((always_inline)) {
    return v + static_cast<decltype(v)>(number);
  };
  return record(kAddNumber, {x}, detail::map(x.value(), plus), [](Gradients& g) { g.give(0, g.take_out()); });
}

}  // namespace attnlab
