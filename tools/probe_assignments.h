// --set of commands that run probes: PROBE.key=value is a probe's, everything else the run's. Messages name
// the number of the --set among all.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "study/probe.h"

namespace attnlab {

struct ProbeAssignments {
  std::vector<std::string> run;
  std::vector<std::pair<std::string, std::string>> probes;  // name, NAME.key=value

  // The probe with what is set of it. Throws ConfigError for an unknown name, with a near match, and for
  // wrong keys.
  std::shared_ptr<ProbeSpec> make(const std::string& probe) const;
};

// Throws ConfigError for a key of a probe that is not asked for.
ProbeAssignments split_assignments(const std::vector<std::string>& all,
                                   const std::vector<std::string>& probes);

}  // namespace attnlab
