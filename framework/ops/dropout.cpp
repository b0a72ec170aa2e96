#include "ops/dropout.h"

#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

const Op kDropout{"dropout"}, kResidualSum{"residual sum"};

struct Masks {
  kernels::DropoutRate rate;
  Random random;
  Index first_row;
  bool active;
};

Masks masks_of(const Var& x, const Dropout& options, Index first_row) {
  check(options.rate >= 0 && options.rate < 1, "dropout: rate ", options.rate, " is not in [0, 1)");
  const bool active = x.tape().training() && options.rate > 0;
  return {kernels::DropoutRate(options.rate), x.tape().random(options.stream), first_row, active};
}

// to = (add ? to : 0) + base_scale * base + masked x; `base` may be empty.
template <class T>
void masked_rows(const Tensor& x, const Tensor& base, double base_scale, const Masks& masks, const Tensor& to,
                 bool add) {
  using A = Accumulator<T>;
  const Index D = x.columns();
  parallel_for(x.rows(), kernels::row_grain(D), [&](Index begin, Index end) {
    std::vector<float> factors(static_cast<std::size_t>(D), 1.0F);
    for (Index i = begin; i < end; ++i) {
      const T* xi = x.data<T>() + i * x.row_stride();
      const T* bi = base ? base.data<T>() + i * base.row_stride() : nullptr;
      T* yi = to.data<T>() + i * to.row_stride();
      if (masks.active)
        kernels::dropout_factors(masks.rate, masks.random, masks.first_row + i, D, factors.data());
      if constexpr (!std::is_same_v<T, double>) {
        kernels::row_loops<T>().combine(xi, masks.active ? factors.data() : nullptr, bi,
                                        static_cast<float>(base_scale), D, add, yi);
        continue;
      }
      for (Index j = 0; j < D; ++j) {
        // A dropped element is zero even where x is not finite.
        const A factor = static_cast<A>(factors[static_cast<std::size_t>(j)]);
        A value = factor == 0 ? A{0} : static_cast<A>(xi[j]) * factor;
        if (bi) value += static_cast<A>(bi[j]) * static_cast<A>(base_scale);
        yi[j] = static_cast<T>(add ? static_cast<A>(yi[j]) + value : value);
      }
    }
  });
}

void masked(const Tensor& x, const Tensor& base, double base_scale, const Masks& masks, const Target& to) {
  dispatch(x.type(),
           [&](auto zero) { masked_rows<decltype(zero)>(x, base, base_scale, masks, to.buffer, to.add); });
}

}  // namespace

Var dropout(const Var& x, const Dropout& options, Index first_row) {
  const Masks masks = masks_of(x, options, first_row);
  if (!masks.active) return x;
  const Tensor y(x.shape(), x.type());
  masked(x.value(), {}, 1, masks, {y, false});
  return record(kDropout, {x}, y, [masks](Gradients& g) {
    const Tensor dy = g.out();
    masked(dy, {}, 1, masks, g.target(0));
  });
}

Var residual_sum(const Var& residual, const Var& x, double skip_scale, const Dropout& options,
                 Index first_row) {
  check(residual.shape() == x.shape(), "residual_sum: ", residual.shape(), " and ", x.shape());
  const Masks masks = masks_of(x, options, first_row);
  const Tensor y(x.shape(), x.type());
  masked(x.value(), residual.value(), skip_scale, masks, {y, false});
  return record(kResidualSum, {residual, x}, y, [masks, skip_scale](Gradients& g) {
    const Tensor dy = g.out();
    if (g.wants(1)) masked(dy, {}, 1, masks, g.target(1));
    if (!g.wants(0)) return;
    if (skip_scale == 1) return g.give(0, dy);
    const Tensor nothing = Tensor::zeros(dy.shape(), dy.type());
    Masks off = masks;
    off.active = false;
    masked(nothing, dy, skip_scale, off, g.target(0));
  });
}

}  // namespace attnlab
