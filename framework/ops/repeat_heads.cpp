#include "ops/repeat_heads.h"

#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kRepeatHeads{"repeat heads"};

// Calls copy(row, wide column, narrow column) for the K columns of every copy of every head.
struct Copies {
  Index rows, heads, times, K;
  template <class Function>
  void each(const Function& function) const {
    parallel_for(rows, kernels::row_grain(heads * times * K), [this, &function](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index h = 0; h < heads; ++h)
          for (Index copy = 0; copy < times; ++copy) function(i, (h * times + copy) * K, h * K);
    });
  }
};

template <class T>
void spread(const Copies& copies, const Tensor& x, const Tensor& y) {
  copies.each([&copies, &x, &y](Index i, Index wide, Index narrow) {
    const T* from = x.data<T>() + i * x.row_stride() + narrow;
    std::copy(from, from + copies.K, y.data<T>() + i * y.row_stride() + wide);
  });
}

template <class T>
void gather(const Copies& copies, const Tensor& dy, const Target& to) {
  using A = Accumulator<T>;
  const Tensor& dx = to.buffer;
  parallel_for(copies.rows, kernels::row_grain(dy.columns()),
               [&copies, &dy, &dx, &to](Index begin, Index end) {
                 for (Index i = begin; i < end; ++i)
                   for (Index h = 0; h < copies.heads; ++h)
                     for (Index k = 0; k < copies.K; ++k) {
                       T& out = dx.data<T>()[i * dx.row_stride() + h * copies.K + k];
                       A sum = to.add ? static_cast<A>(out) : A{0};
                       for (Index copy = 0; copy < copies.times; ++copy)
                         sum += static_cast<A>(
                             dy.data<T>()[i * dy.row_stride() + (h * copies.times + copy) * copies.K + k]);
                       out = static_cast<T>(sum);
                     }
               });
}

}  // namespace

Var repeat_heads(const Var& x, Index heads, Index times) {
  check(heads >= 1 && times >= 1 && x.shape().rank() == 2 && x.shape()[1] % heads == 0,
        "repeat_heads: ", heads, " heads, ", times, " times, of rows ", x.shape());
  if (times == 1) return x;
  const Copies copies{x.shape()[0], heads, times, x.shape()[1] / heads};
  const Tensor y({copies.rows, x.shape()[1] * times}, x.type());
  dispatch(x.type(), [&copies, &x, &y](auto zero) { spread<decltype(zero)>(copies, x.value(), y); });
  return record(kRepeatHeads, {x}, y, [copies](Gradients& g) {
    const Target to = g.target(0);
    dispatch(g.out().type(), [&copies, &g, &to](auto zero) { gather<decltype(zero)>(copies, g.out(), to); });
  });
}

}  // namespace attnlab
