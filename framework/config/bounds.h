// The range a number must lie in. Written in specs as at_least(1), between(0, 1, upper_exclusive), any().
#pragma once

#include <limits>
#include <string>

namespace attnlab {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_exclusive = false;
  bool high_exclusive = false;

  bool contains(double value) const;  // false for NaN
  std::string text() const;           // "at least 1"; empty when every number is allowed
};

enum class BoundEnd { upper_inclusive, upper_exclusive };
using enum BoundEnd;

Bounds any();
Bounds at_least(double low);
Bounds at_most(double high);
Bounds above(double low);   // exclusive
Bounds below(double high);  // exclusive
Bounds between(double low, double high, BoundEnd end = upper_inclusive);

}  // namespace attnlab
