#include "probe_assignments.h"

#include <algorithm>

#include "config/error.h"
#include "study/probe.h"

namespace attnlab {

std::vector<std::string> ProbeAssignments::of(const std::string& probe) const {
  std::vector<std::string> own;
  for (const auto& [name, assignment] : probes)
    if (name == probe) own.push_back(assignment);
  return own;
}

ProbeAssignments split_assignments(const std::vector<std::string>& all,
                                   const std::vector<std::string>& probes) {
  ProbeAssignments result;
  const auto kinds = Registry<ProbeSpec>::list();
  for (const std::string& item : all) {
    const std::string first = item.substr(0, item.find_first_of(".="));
    if (std::none_of(kinds.begin(), kinds.end(), [&first](const auto& kind) { return kind.name == first; }))
      result.run.push_back(item);
    else if (std::find(probes.begin(), probes.end(), first) == probes.end())
      throw ConfigError("error: --set " + item + ": the probe '" + first + "' is not asked for");
    else
      result.probes.emplace_back(first, item.substr(std::min(item.size(), first.size() + 1)));
  }
  return result;
}

}  // namespace attnlab
