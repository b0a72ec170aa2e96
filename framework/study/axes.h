// Axes of a study: keys with the values that they take, and the grid of all their combinations.
#pragma once

#include "config/node.h"
#include "config/problems.h"
#include "study/study.h"

namespace attnlab {

// One point of a grid: the values, and overlays that set them.
struct GridPoint {
  std::vector<AxisValue> values;
  std::vector<ConfigNode> layers;
  // "-4", "-4-window": the values as the end of a name; empty without axes.
  std::string suffix() const;
};

// The grid of an `axes:` section: {a.b: [values]} or {a.b: {from, to, step | count, log}}. One empty point
// where there are no axes. `path` is its place, for messages; what is wrong goes to `problems`.
std::vector<GridPoint> grid_of(const ConfigNode& axes, const std::string& path, Problems& problems);

// A map that sets a dotted path to a value.
ConfigNode assignment(const std::string& path, ConfigNode value);

}  // namespace attnlab
