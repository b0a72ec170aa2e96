// Scores of two runs side by side, with paired bootstrap.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct ScorePair {
  std::string test, metric, signature;
  double a = 0, b = 0, a_interval = 0, b_interval = 0, p_value = 1;
};

struct RunComparison {
  std::vector<ScorePair> scores;
  std::vector<std::string> problems;  // why scores are missing
};

// From what the runs wrote for their test sets (outputs/TEST.txt); references come from the task of `a`. A
// language model is scored anew, by the likelihood of its test sets.
RunComparison compare_runs(const std::filesystem::path& a, const std::filesystem::path& b,
                           const std::vector<std::string>& assignments);

}  // namespace attnlab
