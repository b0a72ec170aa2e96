#include "study/metric_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/closest.h"
#include "config/error.h"

namespace attnlab {
namespace {

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool produced(const Study& study, const Planner& planner, const std::string& metric) {
  for (const ProbeUse& use : study.probes)
    if (metric.starts_with(use.name + ".")) return true;
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm)
    if (among(planner.facts(arm).metrics, metric)) return true;
  return metric == "parameters";
}

// What is wrong, one line each.
using Lines = std::vector<std::string>;

void require(const Study& study, const Planner& planner, const std::string& metric, const std::string& place,
             Lines& problems) {
  if (metric.empty() || produced(study, planner, metric)) return;
  problems.push_back(fmt::format("{}: no arm produces the metric '{}'; they produce: {}", place, metric,
                                 join_names(planner.facts(0).metrics)));
}

void check_controls(const Study& study, const Planner& planner, Lines& problems) {
  std::vector<std::string> known;
  for (const Baseline& baseline : planner.facts(0).baselines) known.push_back(baseline.name);
  for (const std::string& name : study.spec.controls)
    if (!among(known, name))
      problems.push_back(fmt::format("{}: no control '{}' for this task; there are: {}",
                                     study.error_about("controls"), name, join_names(known)));
}

}  // namespace

void check_metrics(const Study& study, const Planner& planner) {
  Lines problems;
  if (planner.facts(0).metrics.empty() && study.spec.metric.empty())
    problems.emplace_back("error: study.metric: the task has no scores; name a metric");
  check_controls(study, planner, problems);
  require(study, planner, study.spec.metric, study.error_about("metric"), problems);
  for (const std::string& metric : study.spec.columns)
    require(study, planner, metric, study.error_about("columns"), problems);
  bool sweeps = false;
  for (std::size_t arm = 0; arm < study.arms.size() && !sweeps; ++arm) sweeps = !planner.rates(arm).empty();
  if (sweeps) require(study, planner, study.spec.rates.choose_by, study.error_about("rates"), problems);
  for (const Claim& claim : study.claims)
    require(study, planner, claim.spec->metric,
            fmt::format("{}: error: 'study.expect.{}'", claim.position.text(), claim.name), problems);
  if (!problems.empty()) throw ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
}

std::vector<std::string> unknown_probe_metrics(const Study& study, const StudyResults& results) {
  std::vector<std::string> wanted = study.spec.columns;
  wanted.push_back(results.metric);
  for (const Claim& claim : study.claims) wanted.push_back(claim.spec->metric);
  std::vector<std::string> warnings;
  for (const ProbeUse& use : study.probes) {
    std::vector<std::string> known;
    for (const ArmResult& arm : results.arms)
      for (const RunResult& run : arm.runs)
        for (const auto& [name, value] : run.values.fields())
          if (name.starts_with(use.name + ".") && !among(known, name)) known.push_back(name);
    for (const std::string& metric : wanted)
      if (!known.empty() && metric.starts_with(use.name + ".") && !among(known, metric))
        warnings.push_back(fmt::format("no run has the metric '{}'; probe '{}' gives: {}", metric, use.name,
                                       join_names(known)));
  }
  return warnings;
}

}  // namespace attnlab
