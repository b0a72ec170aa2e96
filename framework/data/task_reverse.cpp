// The generated task `reverse`: say the symbols backwards.
#include <algorithm>

#include "config/registry.h"
#include "data/generated.h"

namespace attnlab {
namespace {

struct Reverse final : GeneratedSpec {
  std::vector<Index> rule(std::vector<Index> sequence) const override {
    std::reverse(sequence.begin(), sequence.end());
    return sequence;
  }
};

const Registered<TaskSpec, Reverse> registered{"reverse", "generated: say the symbols backwards"};

}  // namespace
}  // namespace attnlab
