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

void check_controls(const Study& study, const Planner& planner) {
  std::vector<std::string> known;
  for (const Baseline& baseline : planner.facts(0).baselines) known.push_back(baseline.name);
  for (const std::string& name : study.spec.controls)
    if (!among(known, name))
      throw ConfigError(fmt::format("error: study '{}': no control '{}' for this task; there are: {}",
                                    study.spec.name, name, join_names(known)));
}

}  // namespace

void check_metrics(const Study& study, const Planner& planner) {
  const auto& known = planner.facts(0).metrics;
  if (known.empty() && study.spec.metric.empty())
    throw ConfigError("error: study.metric: the task has no scores; name a metric");
  std::vector<std::string> wanted = study.spec.columns;
  if (!study.spec.metric.empty()) wanted.push_back(study.spec.metric);
  for (std::size_t arm = 0; arm < study.arms.size(); ++arm)
    if (!planner.rates(arm).empty()) wanted.push_back(study.spec.rates.choose_by);
  check_controls(study, planner);
  for (const Claim& claim : study.claims) {
    const std::string& name = claim.spec->metric;
    if (!name.empty() && !produced(study, planner, name))
      throw ConfigError(
          fmt::format("{}: error: 'study.expect.{}': no arm produces the metric '{}'; they produce: {}",
                      claim.position.text(), claim.name, name, join_names(known)));
  }
  for (const std::string& name : wanted)
    if (!produced(study, planner, name))
      throw ConfigError(fmt::format("error: study '{}': no arm produces the metric '{}'; they produce: {}",
                                    study.spec.name, name, join_names(known)));
}

}  // namespace attnlab
