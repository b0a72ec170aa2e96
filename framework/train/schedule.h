// Learning-rate schedules: the rate is a pure function of the step, so that it can be printed before the run
// and is the same after a resume. Every schedule begins with a linear warm-up to its peak. Kinds register
// themselves.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/dtype.h"

namespace attnlab {

class Fields;

// What a schedule may depend on besides its own keys.
struct ScheduleContext {
  std::optional<double> learning_rate;  // the peak, if the config states one
  Index width = 512;                    // of the model
  Index total_steps = 1;                // of the whole run
  double steps_per_epoch = 1;
};

struct ScheduleSpec {
  static constexpr const char* kRegistry = "schedule";
  std::int64_t warmup_steps = 0;
  std::optional<double> warmup_epochs;

  virtual ~ScheduleSpec() = default;
  virtual void fields(Fields& f);  // the warm-up; kinds add their own
  // The length of the warm-up in steps.
  Index warmup(const ScheduleContext& context) const;
  // The rate at the end of the warm-up; the stated one, or 0.001.
  virtual double peak(const ScheduleContext& context) const;
  // The share of the peak at a step after the warm-up.
  virtual double share(Index step, const ScheduleContext& context) const = 0;
};

class Schedule {
 public:
  Schedule(std::shared_ptr<const ScheduleSpec> spec, const ScheduleContext& context)
      : spec_(std::move(spec)), context_(context) {}
  // The rate of the update number `step`, counted from 1; never 0 in the warm-up.
  double rate(Index step) const;
  // Steps and rates: the first, the end of the warm-up, some between, the last. One line each.
  std::string table(Index rows = 10) const;

 private:
  std::shared_ptr<const ScheduleSpec> spec_;
  ScheduleContext context_;
};

// The share of a decay that is left: 1 right after the warm-up, 0 at the last step and beyond it.
double remaining(Index step, Index warmup, Index total_steps);

}  // namespace attnlab
