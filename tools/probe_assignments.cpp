#include "probe_assignments.h"

#include <algorithm>

#include "config/assignment.h"
#include "config/error.h"
#include "config/spec.h"

namespace attnlab {
namespace {

// A probe as the section of its own name, so that keys are called as they were typed.
struct ProbeSection {
  std::string name;
  std::shared_ptr<ProbeSpec> probe;
  void fields(Fields& f) { f.section(name, *probe, "what is measured"); }
};

}  // namespace

std::shared_ptr<ProbeSpec> ProbeAssignments::make(const std::string& probe) const {
  std::vector<std::string> own;
  for (const auto& [name, assignment] : probes)
    if (name == probe) own.push_back(assignment);
  ProbeSection section{probe, Registry<ProbeSpec>::make(probe)};
  read_spec(Tree::load({}, own), section);
  return section.probe;
}

ProbeAssignments split_assignments(const std::vector<std::string>& all,
                                   const std::vector<std::string>& probes) {
  ProbeAssignments result;
  const auto kinds = Registry<ProbeSpec>::list();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& item = all[i];
    const std::string placed = numbered_assignment(static_cast<int>(i) + 1, item);
    const std::string first = item.substr(0, item.find_first_of(".="));
    if (std::none_of(kinds.begin(), kinds.end(), [&first](const auto& kind) { return kind.name == first; }))
      result.run.push_back(placed);
    else if (std::find(probes.begin(), probes.end(), first) == probes.end())
      throw ConfigError("error: --set " + item + ": the probe '" + first + "' is not asked for");
    else
      result.probes.emplace_back(first, placed);
  }
  return result;
}

}  // namespace attnlab
