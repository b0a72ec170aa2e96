#include "config/registry.h"
#include "train/schedule.h"

namespace attnlab {
namespace {

struct ConstantSpec : ScheduleSpec {
  double share(Index, const ScheduleContext&) const override { return 1; }
};

const Registered<ScheduleSpec, ConstantSpec> registered{"constant", "stays at its peak"};

}  // namespace
}  // namespace attnlab
