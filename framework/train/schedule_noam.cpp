#include "train/schedule_noam.h"

#include <algorithm>
#include <cmath>

#include "config/fields.h"
#include "config/registry.h"

namespace attnlab {
namespace {

const Registered<ScheduleSpec, NoamSpec> registered{"noam",
                                                    "the rate of \"Attention is all you need\", equation 3"};

double warmup_of(const NoamSpec& spec, const ScheduleContext& context) {
  return static_cast<double>(std::max<Index>(1, spec.warmup(context)));
}

}  // namespace

void NoamSpec::fields(Fields& f) {
  ScheduleSpec::fields(f);
  f("factor", factor, above(0),
    "multiplies equation 3; without effect when train.learning_rate states the peak");
}

double NoamSpec::peak(const ScheduleContext& context) const {
  if (context.learning_rate) return *context.learning_rate;
  return factor / std::sqrt(static_cast<double>(context.width) * warmup_of(*this, context));
}

double NoamSpec::share(Index step, const ScheduleContext& context) const {
  return std::sqrt(warmup_of(*this, context) / static_cast<double>(step));
}

}  // namespace attnlab
