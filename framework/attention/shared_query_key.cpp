// Shared query and key weights, W_Q = W_K (Kitaev et al. 2020, section 2): the logits of self-attention are
// symmetric.
#include <cmath>

#include "attention/attention.h"
#include "attention/softmax_reference.h"
#include "ops/attend.h"

namespace attnlab {
namespace {

class SharedQueryKey final : public AttentionKind {
 public:
  SharedQueryKey(const Scope& scope, const AttentionShape& shape)
      : options_{shape.H, 1 / std::sqrt(static_cast<double>(shape.K)), shape.dropout, scope.stream()} {}

  Projections projections() const override { return {.shared_query_key = true}; }
  Var forward(Tape&, const HeadRows& rows, const Mask& mask) const override {
    return attend(rows.query, rows.key, rows.value, mask, options_);
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    return softmax_reference(problem, options_.scale);
  }

 private:
  AttendOptions options_;
};

struct SharedQueryKeySpec final : AttentionSpec {
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<SharedQueryKey>(scope, shape);
  }
};

const Registered<AttentionSpec, SharedQueryKeySpec> registered{"shared_query_key",
                                                               "one weight for queries and keys"};

}  // namespace
}  // namespace attnlab
