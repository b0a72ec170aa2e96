#include <algorithm>
#include <cmath>

#include "config/registry.h"
#include "train/schedule.h"

namespace attnlab {
namespace {

struct InverseSqrtSpec : ScheduleSpec {
  double share(Index step, const ScheduleContext& context) const override {
    return std::sqrt(static_cast<double>(std::max<Index>(1, warmup(context))) / static_cast<double>(step));
  }
};

const Registered<ScheduleSpec, InverseSqrtSpec> registered{"inverse_sqrt",
                                                           "falls with the inverse square root of the step"};

}  // namespace
}  // namespace attnlab
