#include "study/paired_arms.h"

namespace attnlab {

void PairedArms::fields(Fields& f, std::string_view arm_doc, std::string_view to_doc) {
  f("arm", arm, arm_doc);
  f("to", to, to_doc);
  f.check(!arm.empty(), "arm", "needs the name of an arm");
}

std::vector<std::string> PairedArms::names() const {
  return to.empty() ? std::vector<std::string>{arm} : std::vector<std::string>{arm, to};
}

std::pair<const ArmResult*, const ArmResult*> PairedArms::find(const StudyResults& results) const {
  const ArmResult* one = results.find(arm);
  return {one, results.find(to.empty() ? one->baseline : to)};
}

std::vector<std::pair<double, double>> PairedArms::values(const StudyResults& results,
                                                          const std::string& metric) const {
  const auto [one, other] = find(results);
  return other ? paired_values(*one, *other, metric) : std::vector<std::pair<double, double>>{};
}

std::vector<double> PairedArms::differences(const StudyResults& results, const std::string& metric) const {
  std::vector<double> result;
  for (const auto& [value, other] : values(results, metric)) result.push_back(value - other);
  return result;
}

}  // namespace attnlab
