// Sliding window (Beltagy et al. 2020, section 3.1, without global tokens): a token sees `width` neighbours
// on each side, or behind it where the future is hidden. Time grows with T times the width.
#include <cmath>

#include "attention/attention.h"
#include "attention/softmax_reference.h"
#include "ops/attend.h"

namespace attnlab {
namespace {

class Window final : public AttentionKind {
 public:
  Window(const Scope& scope, const AttentionShape& shape, Index width)
      : options_{shape.H, 1 / std::sqrt(static_cast<double>(shape.K)), shape.dropout, scope.stream()},
        width_(width) {}

  Var forward(Tape&, const HeadRows& rows, const Mask& mask) const override {
    return attend(rows.query, rows.key, rows.value, narrowed(mask), options_);
  }
  Mask narrowed(const Mask& mask) const override {
    Mask banded = mask;
    banded.band = mask.band < 0 ? width_ : std::min(width_, mask.band);
    return banded;
  }
  std::vector<double> reference(const HeadProblem& problem) const override {
    HeadProblem banded = problem;
    banded.visible = [&problem, width = width_](Index t) {
      const Interval seen = problem.visible(t);
      const Index here = problem.past + t;
      return Interval{std::max(seen.begin, here - width), std::min(seen.end, here + width + 1)};
    };
    return softmax_reference(banded, options_.scale);
  }

 private:
  AttendOptions options_;
  Index width_;
};

struct WindowSpec final : AttentionSpec {
  std::int64_t width = 16;
  void own_fields(Fields& f) override {
    f("width", width, at_least(0), "neighbours seen on each side", "tokens");
  }
  Promises promises() const override {
    return {.key_permutation = false, .dependence = false, .cost = "T width"};
  }
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<Window>(scope, shape, width);
  }
};

const Registered<AttentionSpec, WindowSpec> registered{"window", "each token sees its neighbours"};

}  // namespace
}  // namespace attnlab
