#include "ops/linear_attention.h"

#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "kernels/attend_linear.h"
#include "ops/attend.h"

namespace attnlab {
namespace {

const Op elu_plus_one_op{"elu_plus_one"};
const Op linear_attention_op{"linear_attention"};

DType sum_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

// One row of one head: adds k v^T and k to the state, then writes q S / (q . z).
template <class E, class T>
void step_row(const E* q, const E* k, const E* v, Index K, Index V, T* sums, T* normaliser, T* room, E* out) {
  T denominator = 0;
  std::fill_n(room, V, T{});
  for (Index i = 0; i < K; ++i) {
    const T feature = static_cast<T>(k[i]), weight = static_cast<T>(q[i]);
    normaliser[i] += feature;
    denominator += weight * normaliser[i];
    T* line = sums + i * V;
    for (Index j = 0; j < V; ++j) {
      line[j] += feature * static_cast<T>(v[j]);
      room[j] += weight * line[j];
    }
  }
  for (Index j = 0; j < V; ++j) out[j] = static_cast<E>(denominator == 0 ? T{} : room[j] / denominator);
}

}  // namespace

Var elu_plus_one(const Var& x) {
  const Tensor& in = x.value();
  const Tensor out(in.shape(), in.type());
  const Index columns = in.columns();
  dispatch(in.type(), [&](auto zero) {
    using E = decltype(zero);
    using T = Accumulator<E>;
    parallel_for(in.rows(), 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        for (Index j = 0; j < columns; ++j) {
          const T value = static_cast<T>(in.data<E>()[i * in.row_stride() + j]);
          out.data<E>()[i * columns + j] = static_cast<E>(value > 0 ? value + 1 : std::exp(value));
        }
    });
  });
  return record(elu_plus_one_op, {x}, out, [out, columns](Gradients& gradients) {
    const Target target = gradients.target(0);
    const Tensor& d_out = gradients.out();
    dispatch(out.type(), [&](auto zero) {
      using E = decltype(zero);
      using T = Accumulator<E>;
      const Tensor dx =
          target.add || target.buffer.type() != out.type() ? Tensor(out.shape(), out.type()) : target.buffer;
      parallel_for(out.rows(), 64, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
          for (Index j = 0; j < columns; ++j) {
            const T y = static_cast<T>(out.data<E>()[i * columns + j]);
            const T dy = static_cast<T>(d_out.data<E>()[i * d_out.row_stride() + j]);
            dx.data<E>()[i * dx.row_stride() + j] = static_cast<E>(y > 1 ? dy : dy * y);
          }
      });
      if (dx.raw() == target.buffer.raw()) return;
      if (target.add)
        accumulate(dx, target.buffer);
      else
        target.buffer.copy_from(dx);
    });
  });
}

Var linear_attention(const Var& query, const Var& key, const Var& value, const Mask& mask, Index heads) {
  check_attention("linear_attention", query.value(), key.value(), value.value(), mask, heads);
  if (key.wants_gradient() || value.wants_gradient()) check_owned_rows("linear_attention", mask.keys);
  const auto kept = std::make_shared<const Mask>(mask);
  const kernels::LinearInputs inputs{query.value(), key.value(), value.value(), kept.get(), heads};
  const Tensor output({query.value().rows(), value.value().columns()}, query.type());
  const Tensor inverses({heads, query.value().rows()}, sum_type(query.type()));
  if (!mask.queries.lengths.empty()) output.fill(0);
  kernels::linear_forward(inputs, output, inverses);
  return record(linear_attention_op, {query, key, value}, output,
                [inputs, kept, output, inverses](Gradients& gradients) {
                  const auto target = [&gradients](int input) {
                    return gradients.wants(input) ? gradients.target(input) : Target{};
                  };
                  const Target d_query = target(0), d_key = target(1), d_value = target(2);
                  kernels::linear_backward(inputs, output, inverses, gradients.out(), d_query, d_key,
                                           d_value);
                });
}

LinearAttentionState LinearAttentionState::zeros(Index count, Index heads, Index width, Index value_width,
                                                 DType type) {
  return {Tensor::zeros({count, heads, width, value_width}, sum_type(type)),
          Tensor::zeros({count, heads, width}, sum_type(type))};
}

Tensor linear_attention_step(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Sequences& rows, Index heads, const LinearAttentionState& state) {
  Mask mask;
  mask.queries = mask.keys = rows;
  check_attention("linear_attention_step", query, key, value, mask, heads);
  const Index K = query.columns() / heads, V = value.columns() / heads;
  check(state.sums.shape() == Shape{rows.count(), heads, K, V} &&
            state.normalisers.shape() == Shape{rows.count(), heads, K} &&
            state.sums.type() == sum_type(query.type()) && state.normalisers.type() == state.sums.type(),
        "linear_attention_step: a state of ", to_string(state.sums.type()), " ", state.sums.shape(), " and ",
        state.normalisers.shape(), ", expected ", to_string(sum_type(query.type())), " ",
        Shape{rows.count(), heads, K, V});
  const Tensor output({query.rows(), value.columns()}, query.type());
  if (!rows.lengths.empty()) output.fill(0);
  dispatch(query.type(), [&](auto zero) {
    using E = decltype(zero);
    using T = Accumulator<E>;
    parallel_items(rows.count() * heads, [&](Index item) {
      const Index b = item / heads, head = item % heads;
      std::vector<T> room(static_cast<std::size_t>(V));
      for (Index row = rows.offset(b); row < rows.offset(b) + rows.length(b); ++row)
        step_row(query.data<E>() + row * query.row_stride() + head * K,
                 key.data<E>() + row * key.row_stride() + head * K,
                 value.data<E>() + row * value.row_stride() + head * V, K, V,
                 state.sums.data<T>() + item * K * V, state.normalisers.data<T>() + item * K, room.data(),
                 output.data<E>() + row * output.columns() + head * V);
    });
  });
  return output;
}

}  // namespace attnlab
