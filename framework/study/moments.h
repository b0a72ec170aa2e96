// Mean and standard deviation of a sample.
#pragma once

#include <cmath>
#include <vector>

namespace attnlab {

struct Moments {
  double mean = 0, deviation = 0;  // the latter of a sample: over n - 1; 0 for fewer than two
};

inline Moments moments_of(const std::vector<double>& values) {
  Moments result;
  const auto count = static_cast<double>(values.size());
  for (const double v : values) result.mean += v / count;
  for (const double v : values) result.deviation += (v - result.mean) * (v - result.mean);
  result.deviation = values.size() < 2 ? 0 : std::sqrt(result.deviation / (count - 1));
  return result;
}

}  // namespace attnlab
