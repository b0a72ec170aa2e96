// --set of commands that run probes: PROBE.key=value is a probe's, everything else the run's.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attnlab {

struct ProbeAssignments {
  std::vector<std::string> run;
  std::vector<std::pair<std::string, std::string>> probes;  // name, key=value
  std::vector<std::string> of(const std::string& probe) const;
};

// Throws ConfigError for a key of a probe that is not asked for.
ProbeAssignments split_assignments(const std::vector<std::string>& all,
                                   const std::vector<std::string>& probes);

}  // namespace attnlab
