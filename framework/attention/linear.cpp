// Linear attention (Katharopoulos et al. 2020, eq. 4-12) with the feature map elu(x) + 1 (eq. 7): time and
// memory grow with T; hiding the future carries a state of K x V numbers per head.
#include <algorithm>
#include <cmath>

#include "attention/attention.h"
#include "ops/linear_attention.h"

namespace attnlab {
namespace {

double feature(double x) { return x > 0 ? x + 1 : std::exp(x); }

// Rows `parents` of the leading axis.
Tensor regrouped(const Tensor& old, const std::vector<Index>& parents) {
  const Tensor matrix = old.reshaped({old.shape()[0], old.count() / std::max<Index>(old.shape()[0], 1)});
  const Tensor result({static_cast<Index>(parents.size()), matrix.columns()}, old.type());
  for (std::size_t i = 0; i < parents.size(); ++i)
    result.row_view(static_cast<Index>(i), 1).copy_from(matrix.row_view(parents[i], 1));
  Shape shape{static_cast<Index>(parents.size())};
  for (int axis = 1; axis < old.shape().rank(); ++axis) shape.append(old.shape()[axis]);
  return result.reshaped(shape);
}

// The sums over all earlier keys (eq. 18 and 19), made at the first step, which knows the element type.
class LinearState final : public AttentionState {
 public:
  explicit LinearState(Index hypotheses) : count(hypotheses) {}
  void reorder(const std::vector<Index>& parents) override {
    count = static_cast<Index>(parents.size());
    if (!carried.sums) return;
    carried = {regrouped(carried.sums, parents), regrouped(carried.normalisers, parents)};
  }
  std::size_t bytes() const override {
    if (!carried.sums) return 0;
    return static_cast<std::size_t>((carried.sums.count() + carried.normalisers.count()) *
                                    size_of(carried.sums.type()));
  }

  Index count;
  LinearAttentionState carried;
};

class Linear final : public AttentionKind {
 public:
  explicit Linear(const AttentionShape& shape) : shape_(shape) {}

  Var forward(Tape&, const HeadRows& rows, const Mask& mask) const override {
    return linear_attention(elu_plus_one(rows.query), elu_plus_one(rows.key), rows.value, mask, shape_.H);
  }

  std::unique_ptr<AttentionState> start(Index count) const override {
    return std::make_unique<LinearState>(count);
  }

  Var step(Tape& tape, const HeadRows& rows, const Mask& mask, AttentionState& state) const override {
    check(mask.causal && mask.band < 0 && mask.intervals.empty(),
          "attention kind 'linear' carries sums over all that came before: a step needs a plain causal mask");
    auto& past = dynamic_cast<LinearState&>(state);
    check(mask.queries.count() == past.count, "attention kind 'linear': a state of ", past.count,
          " hypotheses got rows of ", mask.queries.count());
    if (!past.carried.sums)
      past.carried = LinearAttentionState::zeros(past.count, shape_.H, shape_.K, shape_.V, rows.query.type());
    return tape.constant(linear_attention_step(elu_plus_one(rows.query).value(),
                                               elu_plus_one(rows.key).value(), rows.value.value(),
                                               mask.queries, shape_.H, past.carried));
  }

  std::vector<double> reference(const HeadProblem& p) const override {
    std::vector<double> result(static_cast<std::size_t>(p.T * p.V), 0.0);
    for (Index t = 0; t < p.T; ++t) {
      const Interval seen = p.visible(t);
      double sum = 0;
      std::vector<double> row(static_cast<std::size_t>(p.V), 0.0);
      for (Index s = seen.begin; s < seen.end; ++s) {
        double weight = 0;
        for (Index k = 0; k < p.K; ++k)
          weight += feature(p.query[static_cast<std::size_t>(t * p.K + k)]) *
                    feature(p.key[static_cast<std::size_t>(s * p.K + k)]);
        sum += weight;
        for (Index v = 0; v < p.V; ++v)
          row[static_cast<std::size_t>(v)] += weight * p.value[static_cast<std::size_t>(s * p.V + v)];
      }
      for (Index v = 0; v < p.V && sum > 0; ++v)
        result[static_cast<std::size_t>(t * p.V + v)] = row[static_cast<std::size_t>(v)] / sum;
    }
    return result;
  }

 private:
  AttentionShape shape_;
};

struct LinearSpec final : AttentionSpec {
  Promises promises() const override { return {.dropout = false, .exact = false, .cost = "T K V"}; }
  std::unique_ptr<AttentionKind> build(const Scope&, const AttentionShape& shape) const override {
    return std::make_unique<Linear>(shape);
  }
};

const Registered<AttentionSpec, LinearSpec> registered{"linear", "kernel attention with elu(x) + 1 features"};

}  // namespace
}  // namespace attnlab
