#include "config/bounds.h"

#include <cmath>

#include "config/scalars.h"

namespace attnlab {

Bounds any() { return {}; }
Bounds at_least(double low) { return {.low = low}; }
Bounds at_most(double high) { return {.high = high}; }
Bounds above(double low) { return {.low = low, .low_exclusive = true}; }
Bounds below(double high) { return {.high = high, .high_exclusive = true}; }
Bounds between(double low, double high, BoundEnd end) {
  return {.low = low, .high = high, .high_exclusive = end == upper_exclusive};
}

bool Bounds::contains(double value) const {
  return (low_exclusive ? value > low : value >= low) && (high_exclusive ? value < high : value <= high);
}

std::string Bounds::text() const {
  const bool has_low = std::isfinite(low), has_high = std::isfinite(high);
  if (has_low && has_high && !low_exclusive && !high_exclusive)
    return "between " + short_number(low) + " and " + short_number(high);
  std::string text;
  if (has_low) text = (low_exclusive ? "above " : "at least ") + short_number(low);
  if (has_low && has_high) text += " and ";
  if (has_high) text += (high_exclusive ? "below " : "at most ") + short_number(high);
  return text;
}

}  // namespace attnlab
