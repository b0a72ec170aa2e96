// Scaled dot-product attention (Vaswani et al. 2017, eq. 1): softmax(Q K^T / sqrt(K)) V.
#include <cmath>

#include "attention/attention.h"
#include "attention/softmax_reference.h"
#include "ops/attend.h"

namespace attnlab {
namespace {

class ScaledDot final : public AttentionKind {
 public:
  ScaledDot(const Scope& scope, const AttentionShape& shape)
      : options_{shape.H, 1 / std::sqrt(static_cast<double>(shape.K)), shape.dropout, scope.stream()} {}

  Var forward(Tape&, const HeadRows& rows, const Mask& mask) const override {
    return attend(rows.query, rows.key, rows.value, mask, options_);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    return softmax_reference(problem, options_.scale);
  }

 private:
  AttendOptions options_;
};

struct ScaledDotSpec final : AttentionSpec {
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<ScaledDot>(scope, shape);
  }
};

const Registered<AttentionSpec, ScaledDotSpec> registered{"scaled_dot", "softmax over scaled dot products"};

}  // namespace
}  // namespace attnlab
