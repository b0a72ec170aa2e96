#include "ops/softmax.h"

#include <memory>

#include "kernels/vector_math.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

const Op kSoftmax{"softmax"}, kMaskedSoftmax{"masked softmax"}, kApplyMask{"apply mask"};

constexpr int kLanes = 16;  // interleaved chains of a row's sum: what follows a row cannot change its order

// Folds `count` values by(i) into one with f, in sixteen chains that start from `start`.
template <class A, class By, class F>
[[gnu::always_inline]] inline A fold(Index count, A start, const By& by, const F& f) {
  A lanes[kLanes];
  for (A& lane : lanes) lane = start;
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = f(lanes[lane], by(i + lane));
  for (int lane = 0; i + lane < count; ++lane) lanes[lane] = f(lanes[lane], by(i + lane));
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) lanes[lane] = f(lanes[lane], lanes[lane + width]);
  return lanes[0];
}

struct Plus {
  template <class A>
  [[gnu::always_inline]] A operator()(A a, A b) const {
    return a + b;
  }
};
struct Largest {
  template <class A>
  [[gnu::always_inline]] A operator()(A a, A b) const {
    return b > a ? b : a;
  }
};

// y = softmax(x) of one row.
template <class T>
[[gnu::always_inline]] inline void softmax_row(const T* x, T* y, Index count) {
  using A = Accumulator<T>;
  const auto logit = [x](Index i) __attribute__((always_inline)) { return kernels::load(x[i]); };
  const A largest = fold<A>(count, logit(0), logit, Largest{});
  const auto weight = [ logit, largest ](Index i) __attribute__((always_inline)) {
    return kernels::vector_exp(logit(i) - largest);
  };
  if constexpr (std::is_same_v<T, A>) {
    for (Index i = 0; i < count; ++i) y[i] = weight(i);
    const auto kept = [y](Index i) __attribute__((always_inline)) { return y[i]; };
    const A share = 1 / fold<A>(count, A{0}, kept, Plus{});
    for (Index i = 0; i < count; ++i) y[i] *= share;
  } else {  // rounded once: the exponentials are computed twice
    const A share = 1 / fold<A>(count, A{0}, weight, Plus{});
    for (Index i = 0; i < count; ++i) kernels::store(y[i], weight(i) * share);
  }
}

// dx = y (dy - sum(y dy)) of one row.
template <class T>
[[gnu::always_inline]] inline void softmax_row_backward(const T* y, const T* dy, T* dx, Index count) {
  using A = Accumulator<T>;
  const auto product = [ y, dy ](Index i) __attribute__((always_inline)) {
    return kernels::load(y[i]) * kernels::load(dy[i]);
  };
  const A mean = fold<A>(count, A{0}, product, Plus{});
  for (Index i = 0; i < count; ++i)
    kernels::store(dx[i], kernels::load(y[i]) * (kernels::load(dy[i]) - mean));
}

// The columns that count in each row of [B, H, T, S]; with no table, all of them.
struct Visible {
  std::vector<Interval> table;  // per sentence and query, [B, T]
  Index heads = 1, queries = 1, columns = 0;

  Interval row(Index r) const {
    if (table.empty()) return {0, columns};
    return table[static_cast<std::size_t>(r / (heads * queries) * queries + r % queries)];
  }
};
using SharedVisible = std::shared_ptr<const Visible>;

SharedVisible all_columns(const Shape& shape) {
  auto result = std::make_shared<Visible>();
  result->columns = shape.columns();
  return result;
}

SharedVisible visible_under(const Op& op, const Shape& shape, const Mask& mask) {
  const bool fits = shape.rank() == 4 && shape[0] == mask.queries.count() && shape[0] == mask.keys.count() &&
                    shape[2] >= mask.queries.longest() && shape[3] >= mask.keys.longest();
  check(fits, op.name(), ": ", shape, " for a mask of ", mask.queries.count(), " sentences, up to ",
        mask.queries.longest(), " queries and ", mask.keys.longest(), " keys");
  auto result = std::make_shared<Visible>();
  result->heads = shape[1];
  result->queries = shape[2];
  result->columns = shape[3];
  result->table.resize(static_cast<std::size_t>(shape[0] * shape[2]));
  for (Index b = 0; b < shape[0]; ++b)
    for (Index t = 0; t < mask.queries.length(b); ++t)
      result->table[static_cast<std::size_t>(b * shape[2] + t)] = mask.visible(b, t);
  return result;
}

// Calls f(x, y, z, count) for the visible part of each row of equal tensors and zeroes the rest of z.
template <class F>
void each_visible(const Visible& visible, const Tensor& x, const Tensor& y, const Tensor& z, const F& f) {
  dispatch(x.type(), [&visible, &x, &y, &z, &f](auto zero) {
    using T = decltype(zero);
    const T *first = x.data<T>(), *second = y.data<T>();
    T* out = z.data<T>();
    const Visible* v = &visible;
    const F* row = &f;
    const Index columns = x.columns(), grain = std::max<Index>(1, detail::kElementGrain / (8 * columns + 1));
    kernels::parallel_vectorised(
        x.rows(), grain,
        [ first, second, out, v, row, columns ](Index begin, Index end) __attribute__((always_inline)) {
          for (Index r = begin; r < end; ++r) {
            const Interval seen = v->row(r);
            T* to = out + r * columns;
            for (Index i = 0; i < seen.begin; ++i) to[i] = T(0);
            if (!seen.empty())
              (*row)(first + r * columns + seen.begin, second + r * columns + seen.begin, to + seen.begin,
                     seen.count());
            for (Index i = std::max(seen.begin, seen.end); i < columns; ++i) to[i] = T(0);
          }
        });
  });
}

struct Softmax {
  template <class T>
  [[gnu::always_inline]] void operator()(const T* x, const T*, T* y, Index count) const {
    softmax_row(x, y, count);
  }
};
struct SoftmaxBackward {
  template <class T>
  [[gnu::always_inline]] void operator()(const T* y, const T* dy, T* dx, Index count) const {
    softmax_row_backward(y, dy, dx, count);
  }
};
struct Copy {
  template <class T>
  [[gnu::always_inline]] void operator()(const T* x, const T*, T* y, Index count) const {
    for (Index i = 0; i < count; ++i) y[i] = x[i];
  }
};

Var visible_softmax(const Op& op, const Var& logits, const SharedVisible& visible) {
  const Tensor x = detail::contiguous(logits.value()), y(x.shape(), x.type());
  each_visible(*visible, x, x, y, Softmax{});
  return record(op, {logits}, y, [y, visible](Gradients& g) {
    const Tensor dy = detail::contiguous(g.take_out()), dx(y.shape(), y.type());
    each_visible(*visible, y, dy, dx, SoftmaxBackward{});
    g.give(0, dx);
  });
}

}  // namespace

Var softmax(const Var& x) {
  check(x.shape().rank() > 0, "softmax of a tensor without axes");
  return visible_softmax(kSoftmax, x, all_columns(x.shape()));
}

Var masked_softmax(const Var& logits, const Mask& mask) {
  return visible_softmax(kMaskedSoftmax, logits, visible_under(kMaskedSoftmax, logits.shape(), mask));
}

Var apply_mask(const Var& input, const Mask& mask) {
  const SharedVisible visible = visible_under(kApplyMask, input.shape(), mask);
  const Tensor x = detail::contiguous(input.value()), y(x.shape(), x.type());
  each_visible(*visible, x, x, y, Copy{});
  return record(kApplyMask, {input}, y, [visible](Gradients& g) {
    const Tensor dy = detail::contiguous(g.take_out()), dx(dy.shape(), dy.type());
    each_visible(*visible, dy, dy, dx, Copy{});
    g.give(0, dx);
  });
}

}  // namespace attnlab
