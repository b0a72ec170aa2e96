#include "study/axes.h"

#include <cctype>

#include "config/scalars.h"
#include "config/spec.h"
#include "config/writer.h"

namespace attnlab {
namespace {

struct AxisPoint {
  AxisValue value;
  ConfigNode layer;
};

// Letters, digits and . _ - stay; runs of anything else become one dash.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain || (!name.empty() && name.back() != '-')) name += plain ? c : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

// Nothing if what was wrong has been said.
std::optional<std::vector<ConfigNode>> values_of(const ConfigNode::Entry& axis, const std::string& path,
                                                 Problems& problems) {
  const ConfigNode& node = axis.value;
  if (node.type == ConfigNode::Type::list) return node.items;
  if (node.type != ConfigNode::Type::map) {
    problems.add(
        node.type == ConfigNode::Type::null ? axis.position : node.position,
        "'" + path + "' must be a list of values or a range {from, to, step}, found " + node.found());
    return std::nullopt;
  }
  RangeSpec range;
  Problems wrong;
  read_part({node, path, axis.position}, range, wrong);
  problems.add(wrong);
  if (!wrong.empty()) return std::nullopt;
  std::vector<ConfigNode> values;
  for (const double number : range.values()) {
    ConfigNode value;
    value.type = ConfigNode::Type::scalar;
    value.text = short_number(number);
    value.position = axis.position;
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<AxisPoint> points_of(const ConfigNode::Entry& axis, const std::string& path, Problems& problems) {
  std::vector<AxisPoint> points;
  const auto values = values_of(axis, path, problems);
  if (!values) return points;
  for (const ConfigNode& value : *values) {
    AxisPoint point{{axis.key, emit_flow(value), {}}, assignment(axis.key, value)};
    double number = 0;
    if (value.type == ConfigNode::Type::scalar && read_scalar(value, number).empty())
      point.value.number = number;
    points.push_back(std::move(point));
  }
  if (points.empty()) problems.add(axis.position, "'" + path + "' is an axis without values");
  return points;
}

}  // namespace

std::string GridPoint::suffix() const {
  std::string text;
  for (const AxisValue& value : values) text += "-" + as_name(value.text);
  return text;
}

ConfigNode assignment(const std::string& path, ConfigNode value) {
  for (std::size_t end = path.size(); end != std::string::npos && end > 0;) {
    const std::size_t dot = path.rfind('.', end - 1);
    const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
    ConfigNode section;
    section.type = ConfigNode::Type::map;
    section.position = value.position;
    section.entries.push_back({path.substr(begin, end - begin), value.position, std::move(value)});
    value = std::move(section);
    end = dot;
  }
  return value;
}

std::vector<GridPoint> grid_of(const ConfigNode& axes, const std::string& path, Problems& problems) {
  std::vector<GridPoint> grid(1);
  if (axes.type == ConfigNode::Type::null) return grid;
  if (axes.type != ConfigNode::Type::map) {
    problems.add(axes.position,
                 "'" + path + "' must be a section of keys with their values, found " + axes.found());
    return grid;
  }
  for (const ConfigNode::Entry& axis : axes.entries) {
    std::vector<GridPoint> next;
    const std::vector<AxisPoint> points = points_of(axis, path + "." + axis.key, problems);
    for (const GridPoint& before : grid) {
      for (const AxisPoint& point : points) {
        next.push_back(before);
        next.back().values.push_back(point.value);
        next.back().layers.push_back(point.layer);
      }
    }
    if (!next.empty()) grid = std::move(next);
  }
  return grid;
}

}  // namespace attnlab
