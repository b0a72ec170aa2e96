#include "train/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "config/fields.h"

namespace attnlab {

void ScheduleSpec::fields(Fields& f) {
  f("warmup_steps", warmup_steps, at_least(0), "the rate rises to its peak over so many steps", "steps");
  f("warmup_epochs", warmup_epochs, at_least(0), "the same in epochs; replaces warmup_steps when set",
    "epochs");
}

Index ScheduleSpec::warmup(const ScheduleContext& context) const {
  if (!warmup_epochs) return warmup_steps;
  return static_cast<Index>(std::llround(*warmup_epochs * context.steps_per_epoch));
}

double ScheduleSpec::peak(const ScheduleContext& context) const {
  return context.learning_rate.value_or(1e-3);
}

double Schedule::rate(Index step) const {
  check(step >= 1, "steps of a schedule count from 1, not ", step);
  const Index warmup = spec_->warmup(context_);
  const double peak = spec_->peak(context_);
  if (step <= warmup) return peak * (static_cast<double>(step) / static_cast<double>(warmup));
  return peak * spec_->share(step, context_);
}

std::string Schedule::table(Index rows) const {
  const Index total = std::max<Index>(context_.total_steps, 1), warmup = spec_->warmup(context_);
  std::set<Index> steps{1, total};
  if (warmup >= 1 && warmup <= total) steps.insert(warmup);
  for (Index row = 1; row < rows; ++row) steps.insert(std::max<Index>(1, total * row / rows));
  std::string text = fmt::format("{:>10}  {}\n", "step", "learning rate");
  for (const Index step : steps) text += fmt::format("{:>10}  {:.4g}\n", step, rate(step));
  return text;
}

double remaining(Index step, Index warmup, Index total_steps) {
  if (step >= total_steps) return 0;
  return static_cast<double>(total_steps - step) /
         static_cast<double>(std::max<Index>(1, total_steps - warmup));
}

}  // namespace attnlab
