// Loops of one pass over all elements, shared by the elementwise ops: values are widened to f32 (f64 stays),
// computed in vector code and rounded once. Internal to the ops floor.
#pragma once

#include "core/tape.h"
#include "kernels/vectorise.h"

namespace attnlab::detail {

constexpr Index kElementGrain = 1 << 13;  // elements worth a thread

// The tensor itself, or a copy without gaps between its rows.
inline Tensor contiguous(const Tensor& x) { return x.contiguous() ? x : x.clone(); }

// f(x) for every element.
template <class F>
Tensor map(const Tensor& strided, const F& f) {
  const Tensor x = contiguous(strided), y(x.shape(), x.type());
  dispatch(x.type(), [&x, &y, &f](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    kernels::parallel_vectorised(
        x.count(), kElementGrain, [ from, to, f ](Index begin, Index end) __attribute__((always_inline)) {
          for (Index i = begin; i < end; ++i) kernels::store(to[i], f(kernels::load(from[i])));
        });
  });
  return y;
}

// f(a, b) for every pair of elements of one shape; overwrites `a` where nobody else holds it.
template <class F>
Tensor map_pairs(Tensor a, const Tensor& strided, const F& f) {
  const bool in_place = a.contiguous() && a.unique();
  const Tensor first = contiguous(std::move(a)), b = contiguous(strided);
  const Tensor y = in_place ? first : Tensor(first.shape(), first.type());
  dispatch(first.type(), [&first, &b, &y, &f](auto zero) {
    using T = decltype(zero);
    const T *left = first.data<T>(), *right = b.data<T>();
    T* to = y.data<T>();
    kernels::parallel_vectorised(
        first.count(), kElementGrain,
        [ left, right, to, f ](Index begin, Index end) __attribute__((always_inline)) {
#pragma omp simd
          for (Index i = begin; i < end; ++i)
            kernels::store(to[i], f(kernels::load(left[i]), kernels::load(right[i])));
        });
  });
  return y;
}

enum class Keeps : std::uint8_t {
  input,
  output
};  // what the derivative is computed from, and so stays in memory

// y = f.value(x), dx = dy * f.slope(kept). F says which it keeps as `kKeeps`; value and slope are always
// inlined.
template <class F>
Var unary(const Op& op, const Var& x, const F& f) {
  const Tensor y = map(
      x.value(), [f](auto v) __attribute__((always_inline)) { return f.value(v); });
  const Tensor kept = F::kKeeps == Keeps::input ? x.value() : y;
  return record(op, {x}, y, [kept, f](Gradients& g) {
    g.give(0, map_pairs(
                  g.take_out(),
                  kept, [f](auto dy, auto v) __attribute__((always_inline)) { return dy * f.slope(v); }));
  });
}

}  // namespace attnlab::detail
