#include "ops/linear.h"

#include "kernels/matmul.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

using kernels::matmul;
using kernels::transpose;
using kernels::view;

const Op kLinear{"linear"}, kLinearGroup{"linear group"};

struct Maps {
  std::vector<Tensor> weights, biases;  // biases: empty, or one per weight
  Tensor stacked_weight, stacked_bias;  // held where the parts lie next to each other
};

Tensor stack(const std::vector<Tensor>& parts) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& part : parts) pointers.push_back(&part);
  return stacked(pointers);
}

void multiply(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& y) {
  matmul(view(x), transpose(view(weight)), kernels::mutable_view(y),
         {.bias = bias ? bias.raw() : nullptr, .bias_type = bias.type()});
}

void forward(const Tensor& x, const Maps& maps, const Tensor& y) {
  if (maps.stacked_weight && (maps.biases.empty() || maps.stacked_bias))
    return multiply(x, maps.stacked_weight, maps.stacked_bias, y);
  Index first = 0;
  for (std::size_t i = 0; i < maps.weights.size(); ++i) {
    const Index out = maps.weights[i].shape()[0];
    multiply(x, maps.weights[i], maps.biases.empty() ? Tensor() : maps.biases[i], y.column_view(first, out));
    first += out;
  }
}

// dx = sum over the maps of dy_i weight_i
void input_gradient(const Maps& maps, const Tensor& dy, const Target& dx) {
  const auto multiply_block = [&](const Tensor& block, const Tensor& weight, bool add) {
    matmul(view(block), view(weight), kernels::mutable_view(dx.buffer), {.accumulate = add});
  };
  if (maps.stacked_weight) return multiply_block(dy, maps.stacked_weight, dx.add);
  Index first = 0;
  bool add = dx.add;
  for (const Tensor& weight : maps.weights) {
    multiply_block(dy.column_view(first, weight.shape()[0]), weight, add);
    first += weight.shape()[0];
    add = true;
  }
}

// dweight_i = dy_i^T x and dbias_i = column sums of dy_i, for the inputs first_input, first_input + 1, …
void parameter_gradients(Gradients& g, int first_input, const std::vector<Index>& columns, const Tensor& dy,
                         const std::function<void(const Tensor& block, const Target&)>& write) {
  std::vector<Tensor> buffers;
  bool alike = true, add = false;
  Index first = 0;
  std::vector<std::pair<Tensor, Target>> blocks;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int input = first_input + static_cast<int>(i);
    if (g.wants(input)) {
      const Target target = g.target(input);
      alike = alike && (buffers.empty() || target.add == add);
      add = target.add;
      buffers.push_back(target.buffer);
      blocks.emplace_back(dy.column_view(first, columns[i]), target);
    }
    first += columns[i];
  }
  const bool all = blocks.size() == columns.size() && alike;
  if (const Tensor whole = all ? stack(buffers) : Tensor(); whole) return write(dy, {whole, add});
  for (const auto& [block, target] : blocks) write(block, target);
}

void weight_gradient(const Tensor& x, const Tensor& dy, const Target& target) {
  matmul(transpose(view(dy)), view(x), kernels::mutable_view(target.buffer), {.accumulate = target.add});
}

void check_shapes(const Var& x, const std::vector<Var>& weights, const std::vector<Var>& biases) {
  check(biases.empty() || biases.size() == weights.size(), "linear: ", weights.size(), " weights and ",
        biases.size(), " biases");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Shape& weight = weights[i].shape();
    check(weight.rank() == 2 && x.shape().rank() == 2 && weight[1] == x.shape()[1], "linear: rows ",
          x.shape(), " and a weight [out, in] of ", weight);
    check(biases.empty() || biases[i].shape() == Shape{weight[0]}, "linear: weight ", weight, " and bias ",
          biases.empty() ? Shape{} : biases[i].shape());
  }
}

// The wide product, its maps, and the closure that differentiates it.
struct Product {
  Tensor y;
  std::vector<Index> columns;
  std::vector<Var> inputs;
  Backward backward;
};

Product product(const Var& x, const std::vector<Var>& weights, const std::vector<Var>& biases) {
  check_shapes(x, weights, biases);
  Maps maps;
  Product result;
  result.inputs = {x};
  Index width = 0;
  for (const Var& weight : weights) {
    maps.weights.push_back(weight.value());
    result.columns.push_back(weight.shape()[0]);
    result.inputs.push_back(weight);
    width += weight.shape()[0];
  }
  for (const Var& bias : biases) {
    maps.biases.push_back(bias.value());
    result.inputs.push_back(bias);
  }
  maps.stacked_weight = stack(maps.weights);
  if (!biases.empty()) maps.stacked_bias = stack(maps.biases);
  result.y = Tensor({x.shape()[0], width}, x.type());
  forward(x.value(), maps, result.y);
  bool weights_train = false;
  for (const Var& weight : weights) weights_train = weights_train || weight.wants_gradient();
  const KeptValue kept = weights_train ? x.kept() : KeptValue();
  result.backward = [kept, maps, columns = result.columns](Gradients& g) {
    const Tensor& dy = g.out();
    if (g.wants(0)) input_gradient(maps, dy, g.target(0));
    parameter_gradients(g, 1, columns, dy, [&kept](const Tensor& block, const Target& to) {
      weight_gradient(kept.value(), block, to);
    });
    if (!maps.biases.empty())
      parameter_gradients(
          g, 1 + static_cast<int>(columns.size()), columns, dy,
          [](const Tensor& block, const Target& to) { kernels::column_sums(block, to.buffer, to.add); });
  };
  return result;
}

}  // namespace

Var linear(const Var& x, const Var& weight, const Var& bias) {
  Product p = product(x, {weight}, bias ? std::vector<Var>{bias} : std::vector<Var>{});
  return x.tape().record(kLinear, p.inputs, p.y, std::move(p.backward));
}

std::vector<Var> linear_group(const Var& x, const std::vector<Var>& weights, const std::vector<Var>& biases) {
  Product p = product(x, weights, biases);
  return x.tape().record_packed(kLinearGroup, p.inputs, p.y, p.columns, std::move(p.backward));
}

}  // namespace attnlab
