// No attention at all: the sublayer adds nothing. The control for "does this attention do anything?".
#include "attention/attention.h"

namespace attnlab {
namespace {

class None final : public AttentionKind {
 public:
  Projections projections() const override {
    return {.query = false, .key = false, .value = false, .output = false};
  }
  Var forward(Tape&, const HeadRows&, const Mask&) const override {
    throw ShapeError("attention kind 'none' has no core to run");
  }
  std::vector<double> reference(const HeadProblem& p) const override {
    return std::vector<double>(static_cast<std::size_t>(p.T * p.V), 0.0);
  }
};

struct NoneSpec final : AttentionSpec {
  Promises promises() const override {
    return {.dependence = false, .dropout = false, .exact = false, .cost = "0"};
  }
  std::unique_ptr<AttentionKind> build(const Scope&, const AttentionShape&) const override {
    return std::make_unique<None>();
  }
};

const Registered<AttentionSpec, NoneSpec> registered{"none",
                                                     "control: no attention, the sublayer adds nothing"};

}  // namespace
}  // namespace attnlab
