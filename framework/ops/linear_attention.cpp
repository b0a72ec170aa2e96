#include "ops/linear_attention.h"

#include <memory>
#include <vector>

#include "core/parallel.h"
#include "kernels/attend_linear.h"
#include "kernels/vector_math.h"
#include "ops/attend.h"
#include "ops/elementwise_loops.h"

namespace attnlab {
namespace {

const Op elu_plus_one_op{"elu_plus_one"};
const Op linear_attention_op{"linear_attention"};

struct EluPlusOne {
  static constexpr detail::Keeps kKeeps = detail::Keeps::output;
  template <class T>
  [[gnu::always_inline]] T value(T x) const {
    return x > 0 ? x + 1 : kernels::vector_exp(x);
  }
  template <class T>
  [[gnu::always_inline]] T slope(T y) const {
    return y > 1 ? T{1} : y;
  }
};

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

// The new rows of one head of one sentence: item b * H + h.
template <class E>
void step_head(const Tensor& query, const Tensor& key, const Tensor& value, const Sequences& rows,
               Index heads, Index item, const LinearAttentionState& state, const Tensor& output) {
  using T = Accumulator<E>;
  const Index b = item / heads, head = item % heads, K = query.columns() / heads, V = value.columns() / heads;
  std::vector<T> room(static_cast<std::size_t>(V));
  for (Index row = rows.offset(b); row < rows.offset(b) + rows.length(b); ++row)
    step_row(query.data<E>() + row * query.row_stride() + head * K,
             key.data<E>() + row * key.row_stride() + head * K,
             value.data<E>() + row * value.row_stride() + head * V, K, V, state.sums.data<T>() + item * K * V,
             state.normalisers.data<T>() + item * K, room.data(),
             output.data<E>() + row * output.columns() + head * V);
}

}  // namespace

Var elu_plus_one(const Var& x) { return detail::unary(elu_plus_one_op, x, EluPlusOne{}); }

Var linear_attention(const Var& query, const Var& key, const Var& value, const Mask& mask, Index heads) {
  check_attention("linear_attention", query.value(), key.value(), value.value(), mask, heads);
  if (key.wants_gradient() || value.wants_gradient()) check_owned_rows("linear_attention", mask.keys);
  const auto kept = std::make_shared<const Mask>(mask);
  const kernels::LinearInputs inputs{query.value(), key.value(), value.value(), kept.get(), heads};
  const Tensor output =
      attention_output(mask.queries, query.value().rows(), value.value().columns(), query.type());
  const Tensor inverses({heads, query.value().rows()}, sum_type(query.type()));
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
  const Tensor output = attention_output(rows, query.rows(), value.columns(), query.type());
  parallel_items(rows.count() * heads, [&query, &key, &value, &rows, &state, &output, heads](Index item) {
    dispatch(query.type(), [&query, &key, &value, &rows, &state, &output, heads, item](auto zero) {
      step_head<decltype(zero)>(query, key, value, rows, heads, item, state, output);
    });
  });
  return output;
}

}  // namespace attnlab
