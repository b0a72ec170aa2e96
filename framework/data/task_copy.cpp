// The generated task `copy`: say the symbols again.
#include "config/registry.h"
#include "data/generated.h"

namespace attnlab {
namespace {

struct Copy final : GeneratedSpec {
  std::vector<Index> rule(std::vector<Index> sequence) const override { return sequence; }
};

const Registered<TaskSpec, Copy> registered{"copy", "generated: say the symbols again"};

}  // namespace
}  // namespace attnlab
