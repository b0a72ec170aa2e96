// Vaswani et al. 2017, equation 3: rate = factor · width^-½ · min(step^-½, step · warmup^-3/2).
#pragma once

#include "train/schedule.h"

namespace attnlab {

struct NoamSpec : ScheduleSpec {
  double factor = 1;
  NoamSpec() { warmup_steps = 4000; }
  void fields(Fields& f) override;
  double peak(const ScheduleContext& context) const override;
  double share(Index step, const ScheduleContext& context) const override;
};

}  // namespace attnlab
