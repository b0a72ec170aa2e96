#include "study/results.h"

#include <algorithm>
#include <cmath>

#include "study/statistics.h"
#include "train/early_stopping.h"
#include "train/run_folder.h"

namespace attnlab {
namespace {

std::vector<double> list_of(const std::map<std::int64_t, double>& values) {
  std::vector<double> list;
  for (const auto& [seed, value] : values) list.push_back(value);
  return list;
}

std::optional<double> number_in(const Record& record, const std::string& name) {
  const RecordValue* value = record.find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* real = std::get_if<double>(value)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* truth = std::get_if<bool>(value)) return *truth ? 1 : 0;
  return std::nullopt;
}

}  // namespace

bool RunResult::finished() const { return finished_status(status); }

bool can_pair(const RunResult& run, const RunResult& other) {
  return run.precision.empty() || other.precision.empty() || run.precision == other.precision;
}

std::map<std::int64_t, double> ArmResult::values(const std::string& metric) const {
  std::map<std::int64_t, double> result;
  for (const RunResult& run : runs) {
    if (!run.finished()) continue;
    if (metric == "parameters")
      result[run.seed] = static_cast<double>(parameters);
    else if (const auto number = number_in(run.values, metric); number && !std::isnan(*number))
      result[run.seed] = *number;
  }
  return result;
}

const RunResult* ArmResult::find(std::int64_t seed) const {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [seed](const auto& run) { return run.seed == seed; });
  return found == runs.end() ? nullptr : &*found;
}

const ArmResult* StudyResults::find(std::string_view wanted) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [wanted](const ArmResult& arm) { return arm.name == wanted; });
  return found == arms.end() ? nullptr : &*found;
}

Summary summary_of(const ArmResult& arm, const std::string& metric) {
  const std::vector<double> values = list_of(arm.values(metric));
  return {static_cast<Index>(values.size()), mean(values), standard_deviation(values),
          standard_error(values)};
}

std::map<std::int64_t, std::vector<double>> joint_values(const std::vector<const ArmResult*>& arms,
                                                         const std::string& metric) {
  std::map<std::int64_t, std::vector<double>> joint;
  if (arms.empty()) return joint;
  for (const auto& [seed, value] : arms.front()->values(metric)) joint[seed] = {value};
  for (std::size_t i = 1; i < arms.size(); ++i)
    for (const auto& [seed, value] : arms[i]->values(metric)) {
      const auto found = joint.find(seed);
      const bool pairs =
          std::all_of(arms.begin(), arms.begin() + static_cast<std::ptrdiff_t>(i), [&](const auto* arm) {
            const RunResult* run = arm->find(seed);
            return run != nullptr && can_pair(*run, *arms[i]->find(seed));
          });
      if (found != joint.end() && pairs) found->second.push_back(value);
    }
  std::erase_if(joint, [&arms](const auto& entry) { return entry.second.size() != arms.size(); });
  return joint;
}

std::vector<std::pair<double, double>> paired_values(const ArmResult& arm, const ArmResult& other,
                                                     const std::string& metric) {
  std::vector<std::pair<double, double>> pairs;
  for (const auto& [seed, values] : joint_values({&arm, &other}, metric))
    pairs.emplace_back(values[0], values[1]);
  return pairs;
}

Comparison compare(const ArmResult& arm, const ArmResult& other, const std::string& metric) {
  Comparison result;
  for (const auto& [value, theirs] : paired_values(arm, other, metric))
    result.differences.push_back(value - theirs);
  result.mean = mean(result.differences);
  result.sd = standard_deviation(result.differences);
  result.sem = standard_error(result.differences);
  const double above = t_test_above(result.differences, 0);
  result.t_test = vary(result.differences) ? std::min(1.0, 2 * std::min(above, 1 - above)) : std::nan("");
  return result;
}

double seconds_of(const StudyResults& results) {
  double sum = 0;
  for (const ArmResult& arm : results.arms)
    for (const RunResult& run : arm.runs) sum += number_in(run.values, "wall_seconds").value_or(0);
  return sum;
}

bool higher_is_better(const std::string& metric) {
  EarlyStoppingSpec spec;
  spec.metric = metric;
  return spec.higher();
}

}  // namespace attnlab
