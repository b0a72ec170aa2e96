// The generated task `sort`: say the symbols in rising order.
#include <algorithm>

#include "config/registry.h"
#include "data/generated.h"

namespace attnlab {
namespace {

struct Sort final : GeneratedSpec {
  std::vector<Index> rule(std::vector<Index> sequence) const override {
    std::sort(sequence.begin(), sequence.end());
    return sequence;
  }
};

const Registered<TaskSpec, Sort> registered{"sort", "generated: say the symbols in rising order"};

}  // namespace
}  // namespace attnlab
