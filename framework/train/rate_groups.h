// Parts of a model with learning rates and schedules of their own: `train.groups`.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parameter.h"
#include "train/optimizer.h"
#include "train/schedule.h"

namespace attnlab {

struct RateGroupSpec {
  std::optional<double> learning_rate;
  std::shared_ptr<ScheduleSpec> schedule;
  bool set() const { return learning_rate.has_value() || schedule != nullptr; }
  void fields(Fields& f);
};

// A parameter belongs to the first group, in this order, that states something and whose preset or patterns
// match its name; the others follow train.learning_rate and train.schedule.
struct RateGroupsSpec {
  RateGroupSpec custom, adapters, norms, input, positions, output, attention, mlp;
  std::vector<std::string> custom_patterns;
  void fields(Fields& f);
};

// The schedules of a run: that of everything, then those of the groups in use.
class RateGroups {
 public:
  // Divides the optimiser's parameters. Throws ConfigError for a group in use that no trainable parameter is
  // in, and for a custom pattern that matches nothing.
  RateGroups(const RateGroupsSpec& spec, const std::shared_ptr<const ScheduleSpec>& schedule,
             const ScheduleContext& context, const ParameterSet& parameters, Optimizer& optimizer);
  std::vector<double> rates(Index step) const;
  const Schedule& schedule() const { return schedules_.front(); }  // of what is in no group
  std::string table(Index rows = 10) const;                        // of all, one after another

 private:
  std::vector<Schedule> schedules_;
  std::vector<std::string> names_;
};

}  // namespace attnlab
