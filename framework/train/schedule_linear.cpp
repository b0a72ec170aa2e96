#include "config/fields.h"
#include "config/registry.h"
#include "train/schedule.h"

namespace attnlab {
namespace {

struct LinearSpec : ScheduleSpec {
  double final_share = 0;
  void fields(Fields& f) override {
    ScheduleSpec::fields(f);
    f("final_share", final_share, between(0, 1), "the last rate as a share of the peak");
  }
  double share(Index step, const ScheduleContext& context) const override {
    const double left = remaining(step, warmup(context), context.total_steps);
    return final_share + (1 - final_share) * left;
  }
};

const Registered<ScheduleSpec, LinearSpec> registered{"linear",
                                                      "falls in a straight line to its end at the last step"};

}  // namespace
}  // namespace attnlab
