#include "train/rate_groups.h"

#include <algorithm>

#include "config/error.h"
#include "config/fields.h"
#include "config/registry.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

struct Group {
  std::string name;
  const RateGroupSpec* spec;
  std::vector<std::string> patterns;
};

std::vector<Group> groups_in_use(const RateGroupsSpec& spec) {
  const std::vector<Group> all{{"custom", &spec.custom, spec.custom_patterns},
                               {"adapters", &spec.adapters, {"adapters"}},
                               {"norms", &spec.norms, {"norms"}},
                               {"input", &spec.input, {"input"}},
                               {"positions", &spec.positions, {"positions"}},
                               {"output", &spec.output, {"head_only"}},
                               {"attention", &spec.attention, {"attention"}},
                               {"mlp", &spec.mlp, {"mlp"}}};
  std::vector<Group> used;
  std::copy_if(all.begin(), all.end(), std::back_inserter(used),
               [](const Group& group) { return group.spec->set(); });
  return used;
}

// The number of the group of a name: 0 for none, else its place in `groups` plus 1.
std::size_t group_of(const std::vector<Group>& groups, const std::string& name, const LastLayers& last) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const auto& pattern : groups[i].patterns)
      if (matches(pattern, name, last)) return i + 1;
  return 0;
}

}  // namespace

void RateGroupSpec::fields(Fields& f) {
  f("learning_rate", learning_rate, above(0), "peak of the schedule; unset: train.learning_rate");
  f.optional_kind("schedule", schedule, "learning rate against steps; unset: train.schedule");
}

void RateGroupsSpec::fields(Fields& f) {
  f.section("adapters", adapters, "low-rank adapters");
  f.section("norms", norms, "gains and biases of every norm");
  f.section("input", input, "token tables, or the map of vectors");
  f.section("positions", positions, "learned tables of positions");
  f.section("output", output, "the output projection");
  f.section("attention", attention, "maps of attention");
  f.section("mlp", mlp, "maps of the MLPs");
  f("custom_patterns", custom_patterns, "patterns of the group custom, which comes before the others");
  f.section("custom", custom, "what custom_patterns match");
  f.check(custom.set() == !custom_patterns.empty(), "custom_patterns",
          "goes with custom, and custom with it");
}

RateGroups::RateGroups(const RateGroupsSpec& spec, const std::shared_ptr<const ScheduleSpec>& schedule,
                       const ScheduleContext& context, const ParameterSet& parameters, Optimizer& optimizer) {
  require_match("train.groups.custom_patterns", spec.custom_patterns, parameters);
  const std::vector<Group> groups = groups_in_use(spec);
  const LastLayers last(parameters);
  schedules_.emplace_back(schedule, context);
  names_.emplace_back("all others");
  for (const Group& group : groups) {
    ScheduleContext own = context;
    if (group.spec->learning_rate) own.learning_rate = group.spec->learning_rate;
    schedules_.emplace_back(group.spec->schedule ? group.spec->schedule : schedule, own);
    names_.push_back(group.name);
  }
  std::vector<bool> met(groups.size() + 1, false);
  for (const auto& parameter : parameters.all())
    if (parameter->trainable()) met[group_of(groups, parameter->name(), last)] = true;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!met[i + 1])
      throw ConfigError("error: train.groups." + groups[i].name +
                        ": no parameter that trains is in this group");
  optimizer.regroup(
      [groups, last](const Parameter& parameter) { return group_of(groups, parameter.name(), last); },
      groups.size() + 1);
}

std::vector<double> RateGroups::rates(Index step) const {
  std::vector<double> all;
  for (const Schedule& schedule : schedules_) all.push_back(schedule.rate(step));
  return all;
}

std::string RateGroups::table(Index rows) const {
  if (schedules_.size() == 1) return schedules_.front().table(rows);
  std::string text;
  for (std::size_t i = 0; i < schedules_.size(); ++i) text += names_[i] + "\n" + schedules_[i].table(rows);
  return text;
}

}  // namespace attnlab
