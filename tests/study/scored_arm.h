// An arm of a study with made-up scores, one a seed from 1 on, to be compared with the arm "base".
#pragma once

#include "study/results.h"

namespace attnlab {

inline ArmResult scored_arm(const std::string& name, const std::vector<double>& scores) {
  ArmResult arm;
  arm.name = name;
  arm.baseline = "base";
  for (std::size_t i = 0; i < scores.size(); ++i) {
    RunResult run;
    run.seed = static_cast<std::int64_t>(i + 1);
    run.status = "done";
    run.precision = "f32";
    run.values = {{"score", scores[i]}};
    arm.runs.push_back(run);
  }
  return arm;
}

}  // namespace attnlab
