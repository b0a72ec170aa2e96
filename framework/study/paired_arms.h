// Two arms held against each other seed by seed: what most expectations are about.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/fields.h"
#include "study/results.h"

namespace attnlab {

struct PairedArms {
  std::string arm, to;

  // The keys `arm` and `to`, with what they mean.
  void fields(Fields& f, std::string_view arm_doc,
              std::string_view to_doc = "this one, seed by seed; empty: the baseline");
  // `to` only where it is named.
  std::vector<std::string> names() const;
  // `arm`, which must exist, and `to`, else the baseline of `arm`; nullptr where it has none.
  std::pair<const ArmResult*, const ArmResult*> find(const StudyResults& results) const;
  // Values of both, a pair for each seed that both have; none without a second arm.
  std::vector<std::pair<double, double>> values(const StudyResults& results, const std::string& metric) const;
  // `arm` minus the other, for each pair.
  std::vector<double> differences(const StudyResults& results, const std::string& metric) const;
};

}  // namespace attnlab
