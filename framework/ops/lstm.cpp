#include "ops/lstm.h"

#include <algorithm>
#include <numeric>

#include "kernels/matmul.h"
#include "kernels/rows.h"
#include "kernels/vector_math.h"
#include "kernels/vectorise.h"

namespace attnlab {
namespace {

using kernels::load;
using kernels::store;
using kernels::vector_sigmoid;
using kernels::vector_tanh;

const Op kLstm{"lstm"};

// Sentences, longest first: those that have a row t are then the first ones, and make one product.
struct Order {
  explicit Order(const Sequences& rows) : steps(rows.longest()), places(rows) {
    sentences.resize(static_cast<std::size_t>(rows.count()));
    std::iota(sentences.begin(), sentences.end(), Index{0});
    std::stable_sort(sentences.begin(), sentences.end(),
                     [&rows](Index a, Index b) { return rows.length(a) > rows.length(b); });
  }
  Index steps;
  Sequences places;
  std::vector<Index> sentences;

  Index count() const { return static_cast<Index>(sentences.size()); }
  Index sentence(Index k) const { return sentences[static_cast<std::size_t>(k)]; }
  Index row(Index k, Index t) const { return places.offset(sentence(k)) + t; }
  Index active(Index t) const {
    return std::partition_point(sentences.begin(), sentences.end(),
                                [this, t](Index b) { return places.length(b) > t; }) -
           sentences.begin();
  }
};

// All of a forward pass that backward needs.
struct Kept {
  Tensor gates;  // [N, 4H] after sigmoid and tanh
  Tensor cells;  // [N, H], in the type of sums
  Tensor y;
};

template <class T>
struct Step {
  using A = Accumulator<T>;
  Index H;
  // One row: z (may be null) is what the state contributes to the gates; c is the state's cell.
  [[gnu::always_inline]] void operator()(const T* in, const A* z, A* c, T* activated, A* cell, T* y,
                                         T* h) const {
    for (Index j = 0; j < H; ++j) {
      const auto sum = [ in, z, j, this ](Index gate) __attribute__((always_inline)) {
        return load(in[gate * H + j]) + (z ? z[gate * H + j] : A{0});
      };
      const A i = vector_sigmoid(sum(0)), f = vector_sigmoid(sum(1)), g = vector_tanh(sum(2)),
              o = vector_sigmoid(sum(3));
      c[j] = f * c[j] + i * g;
      store(y[j], o * vector_tanh(c[j]));
      h[j] = y[j];
      if (activated == nullptr) continue;
      cell[j] = c[j];
      store(activated[j], i);
      store(activated[H + j], f);
      store(activated[2 * H + j], g);
      store(activated[3 * H + j], o);
    }
  }
};

template <class T>
void forward(const Tensor& gates, const Tensor& recurrent, const Order& order, bool keeps, bool started,
             const LstmState& state, Kept& kept) {
  using A = Accumulator<T>;
  const Index H = recurrent.columns();
  const Tensor z({order.count(), 4 * H}, dtype_of<A>);
  const Step<T> step{H};
  for (Index t = 0; t < order.steps; ++t) {
    const Index active = order.active(t);
    const bool has_state = started || t > 0;
    if (has_state)
      kernels::matmul(kernels::view(state.hidden.row_view(0, active)),
                      kernels::transpose(kernels::view(recurrent)),
                      kernels::mutable_view(z.row_view(0, active)));
    parallel_for(active, kernels::row_grain(8 * H), [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index row = order.row(k, t);
        const T* in = gates.data<T>() + row * gates.row_stride();
        const A* product = has_state ? z.data<A>() + k * 4 * H : nullptr;
        A* c = state.cell.data<A>() + k * H;
        T* activated = keeps ? kept.gates.data<T>() + row * 4 * H : nullptr;
        A* cell = keeps ? kept.cells.data<A>() + row * H : nullptr;
        T *y = kept.y.data<T>() + row * H, *h = state.hidden.data<T>() + k * H;
        kernels::vectorised(
            0, 1,
            [ step, in, product, c, activated, cell, y, h ](Index, Index)
                __attribute__((always_inline)) { step(in, product, c, activated, cell, y, h); });
      }
    });
  }
}

// One row of backward: dh and dc hold what later rows say of this row's state and become what this row says
// of the one before (dc; dh comes from the product of dz with the recurrent weights).
template <class T>
struct BackStep {
  using A = Accumulator<T>;
  Index H;
  [[gnu::always_inline]] void operator()(const T* dy, const T* activated, const A* cell, const A* before,
                                         const A* dh, A* dc, T* dz, T* packed) const {
    for (Index j = 0; j < H; ++j) {
      const A i = load(activated[j]), f = load(activated[H + j]), g = load(activated[2 * H + j]),
              o = load(activated[3 * H + j]), squashed = vector_tanh(cell[j]);
      const A to_hidden = load(dy[j]) + dh[j];
      const A to_cell = dc[j] + to_hidden * o * (1 - squashed * squashed);
      const A gradients[4] = {to_cell * g * i * (1 - i), to_cell * (before ? before[j] : A{0}) * f * (1 - f),
                              to_cell * i * (1 - g * g), to_hidden * squashed * o * (1 - o)};
      dc[j] = to_cell * f;
      for (Index gate = 0; gate < 4; ++gate) {
        store(dz[gate * H + j], gradients[gate]);
        packed[gate * H + j] = dz[gate * H + j];
      }
    }
  }
};

// The gradient of the gates' sums, [N, 4H].
template <class T>
Tensor backward_through_time(const Tensor& dy, const Tensor& recurrent, const Order& order,
                             const Kept& kept) {
  using A = Accumulator<T>;
  const Index H = recurrent.columns();
  const Tensor dz({kept.y.rows(), 4 * H}, kept.y.type()), packed({order.count(), 4 * H}, kept.y.type());
  const Tensor dh = Tensor::zeros({order.count(), H}, dtype_of<A>), dc = dh.clone();
  const BackStep<T> step{H};
  for (Index t = order.steps - 1; t >= 0; --t) {
    const Index active = order.active(t);
    parallel_for(active, kernels::row_grain(8 * H), [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) {
        const Index row = order.row(k, t);
        const T *out = dy.data<T>() + row * dy.row_stride(), *activated = kept.gates.data<T>() + row * 4 * H;
        const A *cell = kept.cells.data<A>() + row * H, *before = t > 0 ? cell - H : nullptr;
        const A* from_later = dh.data<A>() + k * H;
        A* carried = dc.data<A>() + k * H;
        T *here = dz.data<T>() + row * 4 * H, *copy = packed.data<T>() + k * 4 * H;
        kernels::vectorised(
            0, 1, [ step, out, activated, cell, before, from_later, carried, here,
                    copy ](Index, Index) __attribute__((always_inline)) {
              step(out, activated, cell, before, from_later, carried, here, copy);
            });
      }
    });
    if (t > 0)
      kernels::matmul(kernels::view(packed.row_view(0, active)), kernels::view(recurrent),
                      kernels::mutable_view(dh.row_view(0, active)));
  }
  return dz;
}

// What each row found as its state: the row before it, or zero.
Tensor states_before(const Tensor& y, const Sequences& rows) {
  const Tensor before = Tensor::zeros(y.shape(), y.type());
  for (Index b = 0; b < rows.count(); ++b)
    if (rows.length(b) > 1)
      before.row_view(rows.offset(b) + 1, rows.length(b) - 1)
          .copy_from(y.row_view(rows.offset(b), rows.length(b) - 1));
  return before;
}

void backward(Gradients& g, const Tensor& recurrent, const Order& order, const Kept& kept) {
  const Tensor dy = g.out();
  const Tensor dz = dispatch(dy.type(), [&dy, &recurrent, &order, &kept](auto zero) {
    return backward_through_time<decltype(zero)>(dy, recurrent, order, kept);
  });
  if (g.wants(1)) {
    const Target to = g.target(1);
    kernels::matmul(kernels::transpose(kernels::view(dz)), kernels::view(states_before(kept.y, order.places)),
                    kernels::mutable_view(to.buffer), {.accumulate = to.add});
  }
  if (g.wants(0)) g.give(0, dz);
}

// The states of the sentences in another order: to[k] = from[order[k]], or the other way round.
Tensor rearranged(const Tensor& from, const Order& order, bool back) {
  const Tensor to(from.shape(), from.type());
  for (Index k = 0; k < order.count(); ++k) {
    const Index b = order.sentence(k);
    to.row_view(back ? b : k, 1).copy_from(from.row_view(back ? k : b, 1));
  }
  return to;
}

}  // namespace

Var lstm(const Var& gates, const Var& recurrent, const Sequences& rows, LstmState* state) {
  check(recurrent.shape().rank() == 2 && recurrent.shape()[0] == 4 * recurrent.shape()[1] &&
            gates.shape() == Shape{rows.rows(), recurrent.shape()[0]},
        "lstm: gates ", gates.shape(), ", recurrent weights [4H, H] of ", recurrent.shape(),
        ", sentences of ", rows.rows(), " rows in all");
  const Index H = recurrent.shape()[1], B = rows.count();
  const DType type = gates.type(), sums = type == DType::f64 ? DType::f64 : DType::f32;
  const bool keeps = gates.wants_gradient() || recurrent.wants_gradient();
  check(state == nullptr || !keeps, "lstm: a state is carried outside training only");
  const Order order(rows);
  const bool started = state != nullptr && state->hidden;
  check(!started || (state->hidden.shape() == Shape{B, H} && state->cell.shape() == Shape{B, H}),
        "lstm: the state is of other sentences");
  LstmState now{started ? rearranged(state->hidden, order, false) : Tensor::zeros({B, H}, type),
                started ? rearranged(state->cell, order, false) : Tensor::zeros({B, H}, sums)};
  Kept kept{{}, {}, Tensor({rows.rows(), H}, type)};
  if (keeps) kept = {Tensor(gates.shape(), type), Tensor({rows.rows(), H}, sums), kept.y};
  const Tensor weights = recurrent.value();
  dispatch(type, [&gates, &weights, &order, keeps, started, &now, &kept](auto zero) {
    forward<decltype(zero)>(gates.value(), weights, order, keeps, started, now, kept);
  });
  if (state != nullptr) *state = {rearranged(now.hidden, order, true), rearranged(now.cell, order, true)};
  return record(kLstm, {gates, recurrent}, kept.y,
                [weights, order, kept](Gradients& g) { backward(g, weights, order, kept); });
}

}  // namespace attnlab
