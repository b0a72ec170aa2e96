#include "ops/activation.h"

#include "kernels/vector_math.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

using detail::Keeps;
using kernels::vector_sigmoid;

const Op kRelu{"relu"}, kGelu{"gelu"}, kGeluTanh{"gelu by tanh"}, kSilu{"silu"};

struct Relu {
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  [[gnu::always_inline]] T value(T x) const {
    return x <= 0 ? T{0} : x;
  }
  template <class T>
  [[gnu::always_inline]] T slope(T y) const {
    return y > 0 ? T{1} : T{0};
  }
};

// y = x P(x), dy/dx = P(x) + x p(x), with density p.
struct Gelu {
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  [[gnu::always_inline]] T value(T x) const {
    return x * kernels::vector_normal(x).distribution;
  }
  template <class T>
  [[gnu::always_inline]] T slope(T x) const {
    constexpr T kDensityAtZero = static_cast<T>(0.39894228040143267794);
    const auto normal = kernels::vector_normal(x);
    return normal.distribution + x * kDensityAtZero * normal.exponential;
  }
};

// y = x s(u) with u = 2 sqrt(2 / pi) (x + 0.044715 x^3), since (1 + tanh v) / 2 = s(2 v);
// dy/dx = s + x s (1 - s) du/dx.
struct GeluTanh {
  static constexpr Keeps kKeeps = Keeps::input;
  static constexpr double kFactor = 1.59576912160573071176, kCubic = 0.044715;
  template <class T>
  [[gnu::always_inline]] T value(T x) const {
    return x * vector_sigmoid(static_cast<T>(kFactor) * x * (1 + static_cast<T>(kCubic) * x * x));
  }
  template <class T>
  [[gnu::always_inline]] T slope(T x) const {
    const T s = vector_sigmoid(static_cast<T>(kFactor) * x * (1 + static_cast<T>(kCubic) * x * x));
    return s + x * s * (1 - s) * static_cast<T>(kFactor) * (1 + static_cast<T>(3 * kCubic) * x * x);
  }
};

struct Silu {
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  [[gnu::always_inline]] T value(T x) const {
    return x * vector_sigmoid(x);
  }
  template <class T>
  [[gnu::always_inline]] T slope(T x) const {
    const T s = vector_sigmoid(x);
    return s * (1 + x * (1 - s));
  }
};

}  // namespace

Var relu(const Var& x) { return detail::unary(kRelu, x, Relu{}); }
Var gelu(const Var& x) { return detail::unary(kGelu, x, Gelu{}); }
Var gelu_tanh(const Var& x) { return detail::unary(kGeluTanh, x, GeluTanh{}); }
Var silu(const Var& x) { return detail::unary(kSilu, x, Silu{}); }

Var activate(const Var& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::silu:
      break;
  }
  return silu(x);
}

}  // namespace attnlab
