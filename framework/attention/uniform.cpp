// The mean of the visible values, whatever they are: the control for "does it matter where attention looks?".
#include "attention/attention.h"
#include "attention/softmax_reference.h"
#include "ops/attend.h"

namespace attnlab {
namespace {

class Uniform final : public AttentionKind {
 public:
  Uniform(const Scope& scope, const AttentionShape& shape)
      : options_{.heads = shape.H, .scale = 0, .dropout = shape.dropout, .stream = scope.stream()} {}

  Projections projections() const override { return {.query = false, .key = false}; }
  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    // Zero queries and keys make equal weights.
    const DType type = rows.value.type();
    const Var query = tape.constant(Tensor::zeros({mask.queries.rows(), options_.heads}, type));
    const Var key = tape.constant(Tensor::zeros({rows.value.shape()[0], options_.heads}, type));
    return attend(query, key, rows.value, mask, options_);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    HeadProblem blind = problem;
    blind.K = 0;
    return softmax_reference(blind, 0);
  }

 private:
  AttendOptions options_;
};

struct UniformSpec final : AttentionSpec {
  Promises promises() const override { return {.exact = false}; }
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<Uniform>(scope, shape);
  }
};

const Registered<AttentionSpec, UniformSpec> registered{"uniform", "control: the mean of what is visible"};

}  // namespace
}  // namespace attnlab
