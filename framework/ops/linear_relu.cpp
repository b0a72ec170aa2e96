#include "ops/linear_relu.h"

#include "kernels/matmul.h"
#include "kernels/row_loops.h"
#include "kernels/rows.h"

namespace attnlab {
namespace {

using kernels::matmul;
using kernels::mutable_view;
using kernels::transpose;
using kernels::view;

const Op kLinearRelu{"linear and relu"};

struct Masks {
  kernels::DropoutRate rate;
  Random random;
  Index first_row;
  bool active;
  // As dropout_factors has it.
  double scale() const { return active ? static_cast<double>(static_cast<float>(rate.scale)) : 1; }
};

void relu_row(const float* factors, Index columns, double* x) {
  for (Index j = 0; j < columns; ++j) {
    const double factor = factors ? static_cast<double>(factors[j]) : 1;
    x[j] = x[j] <= 0 || factor == 0 ? 0 : x[j] * factor;
  }
}
template <class T>
void relu_row(const float* factors, Index columns, T* x) {
  kernels::row_loops<T>().relu(factors, columns, x);
}

void backward_row(const double* y, double scale, Index columns, double* dy, double* sums) {
  for (Index j = 0; j < columns; ++j) {
    dy[j] = y[j] > 0 ? dy[j] * scale : 0;
    if (sums) sums[j] += dy[j];
  }
}
template <class T>
void backward_row(const T* y, double scale, Index columns, T* dy, float* sums) {
  kernels::row_loops<T>().relu_backward(y, static_cast<float>(scale), columns, dy, sums);
}

void relu_rows(const Tensor& x, const Masks& masks) {
  const Index columns = x.columns();
  dispatch(x.type(), [&x, &masks, columns](auto zero) {
    using T = decltype(zero);
    parallel_for(x.rows(), kernels::row_grain(columns), [&x, &masks, columns](Index begin, Index end) {
      std::vector<float> factors(static_cast<std::size_t>(masks.active ? columns : 0));
      for (Index i = begin; i < end; ++i) {
        if (masks.active)
          kernels::dropout_factors(masks.rate, masks.random, masks.first_row + i, columns, factors.data());
        relu_row(masks.active ? factors.data() : nullptr, columns, x.data<T>() + i * columns);
      }
    });
  });
}

// Turns dy into the gradient of the product, and returns its sums over pieces of rows if they are wanted.
Tensor backward_rows(const Tensor& y, const Tensor& dy, double scale, bool sums_wanted) {
  const Index columns = y.columns();
  const kernels::RowPieces pieces(y.rows());
  const Tensor sums =
      sums_wanted ? Tensor::zeros({pieces.count(), columns}, y.type() == DType::f64 ? DType::f64 : DType::f32)
                  : Tensor();
  dispatch(y.type(), [&y, &dy, scale, columns, &pieces, &sums](auto zero) {
    using T = decltype(zero);
    using A = Accumulator<T>;
    parallel_items(pieces.count(), [&y, &dy, scale, columns, &pieces, &sums](Index piece) {
      A* sum = sums ? sums.data<A>() + piece * columns : nullptr;
      for (Index i = pieces.begin(piece); i < pieces.end(piece); ++i)
        backward_row(y.data<T>() + i * columns, scale, columns, dy.data<T>() + i * columns, sum);
    });
  });
  return sums;
}

void backward(Gradients& g, const KeptValue& x, const Tensor& weight, const Tensor& y, double scale) {
  Tensor dy = g.take_out();
  if (!dy.unique() || !dy.contiguous()) dy = dy.clone();
  const Tensor sums = backward_rows(y, dy, scale, g.wants(2));
  if (g.wants(0)) {
    const Target to = g.target(0);
    matmul(view(dy), view(weight), mutable_view(to.buffer), {.accumulate = to.add});
  }
  if (g.wants(1)) {
    const Target to = g.target(1);
    matmul(transpose(view(dy)), view(x.value()), mutable_view(to.buffer), {.accumulate = to.add});
  }
  if (g.wants(2)) {
    const Target to = g.target(2);
    kernels::add_pieces(sums, to.buffer, to.add);
  }
}

}  // namespace

Var linear_relu(const Var& x, const Var& weight, const Var& bias, const Dropout& options, Index first_row) {
  check(options.rate >= 0 && options.rate < 1, "dropout: rate ", options.rate, " is not in [0, 1)");
  check(x.shape().rank() == 2 && weight.shape().rank() == 2 && weight.shape()[1] == x.shape()[1] &&
            (!bias || bias.shape() == Shape{weight.shape()[0]}),
        "linear_relu: rows ", x.shape(), ", weight [out, in] ", weight.shape(), ", bias ",
        bias ? bias.shape() : Shape{});
  const Masks masks{kernels::DropoutRate(options.rate), x.tape().random(options.stream), first_row,
                    x.tape().training() && options.rate > 0};
  const Tensor w = weight.value(), y({x.shape()[0], w.rows()}, x.type());
  const Tensor b = bias ? bias.value() : Tensor();
  matmul(view(x.value()), transpose(view(w)), mutable_view(y),
         {.bias = b ? b.raw() : nullptr, .bias_type = b.type()});
  relu_rows(y, masks);
  const KeptValue kept = weight.wants_gradient() ? x.kept() : KeptValue();
  return record(kLinearRelu, {x, weight, bias ? bias : x.tape().constant({})}, y,
                [kept, w, y, scale = masks.scale()](Gradients& g) { backward(g, kept, w, y, scale); });
}

}  // namespace attnlab
