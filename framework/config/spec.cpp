#include "config/spec.h"

#include <algorithm>

#include "config/closest.h"
#include "config/departures.h"
#include "config/error.h"
#include "config/reader.h"
#include "config/writer.h"

namespace attnlab {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }
std::string section_of_path(const std::string& path) {
  return path.find('.') == std::string::npos ? "" : path.substr(0, path.rfind('.'));
}

// Where a key of this name exists: "it belongs to 'model'".
std::string where_it_belongs(const UnknownKey& unknown, const std::vector<FieldDoc>& fields) {
  std::vector<std::string> places;
  for (const FieldDoc& field : fields) {
    if (last_part(field.path) != unknown.key) continue;
    const std::string section = section_of_path(field.path);
    std::string place = section.empty() ? "the top level" : "'" + section + "'";
    if (!field.when.empty()) place += " with " + field.when;
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  if (places.empty() || places.size() > 4) return {};
  std::string text = places[0];
  for (std::size_t i = 1; i < places.size(); ++i) text += (i + 1 < places.size() ? ", " : " or ") + places[i];
  return text;
}

std::string unknown_key_message(const UnknownKey& unknown, const std::vector<FieldDoc>& fields) {
  const std::string path = (unknown.section.empty() ? "" : unknown.section + ".") + unknown.key.substr(0, 60);
  std::string message = "unknown key '" + path + "'";
  if (!unknown.kind.empty()) message += " for kind '" + unknown.kind + "'";
  if (unknown.key.find('.') != std::string::npos)
    return message + "; dotted paths are for --set, write nested sections here";
  const std::string near = closest_match(unknown.key, unknown.known);
  const std::string place = where_it_belongs(unknown, fields);
  if (!near.empty()) message += ", did you mean '" + near + "'?";
  if (!place.empty())
    message += (near.empty() ? "; it belongs to " : " '" + unknown.key + "' belongs to ") + place;
  return message;
}

void report_unknown(const Reading& reading, const DescribeSpec& fields, const std::string& prefix) {
  if (reading.unknown.empty()) return;
  std::vector<FieldDoc> known = describe_fields(fields);
  for (FieldDoc& field : known) field.path = prefix + field.path;
  for (const UnknownKey& unknown : reading.unknown)
    reading.problems.add(unknown.position,
                         reading.problems.full() ? "unknown key" : unknown_key_message(unknown, known));
}

Overlays layers_of(const Tree& tree) {
  Overlays layers;
  for (const ConfigNode& node : tree.layers()) layers.push_back({&node, node.position});
  return layers;
}

// All scalars and lists of a map, by dotted path.
void flatten(const ConfigNode& node, const std::string& path,
             std::vector<std::pair<std::string, std::string>>& out) {
  if (node.type != ConfigNode::Type::map) return out.emplace_back(path, emit_flow(node)), void();
  for (const ConfigNode::Entry& entry : node.entries)
    flatten(entry.value, (path.empty() ? "" : path + ".") + entry.key, out);
}

std::vector<std::pair<std::string, std::string>> flat(const DescribeSpec& fields, Keys keys) {
  std::vector<std::pair<std::string, std::string>> values;
  flatten(SpecWriter(keys).write(fields), "", values);
  return values;
}

std::string value_of(const std::vector<std::pair<std::string, std::string>>& values,
                     const std::string& path) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&path](const auto& value) { return value.first == path; });
  return found == values.end() ? "" : found->second;
}

}  // namespace

void read_fields(const Tree& tree, const DescribeSpec& fields, Problems& problems) {
  problems.add(tree.problems());
  Reading reading{problems, tree.start(), tree.damaged(), {}, {}};
  SpecReader(reading, "", layers_of(tree)).read(fields);
  report_unknown(reading, fields, "");
}

void read_fields(const Tree& tree, const DescribeSpec& fields) {
  Problems problems;
  read_fields(tree, fields, problems);
  if (!problems.empty()) throw ConfigError(problems.text(tree.file_order()));
}

void read_part(const SpecPart& part, const DescribeSpec& fields, Problems& problems) {
  if (part.node.type != ConfigNode::Type::map && part.node.type != ConfigNode::Type::null)
    return problems.add(part.node.position,
                        "'" + part.path + "' must be a section, found " + part.node.found());
  Reading reading{problems, part.position, false, {}, {}};
  SpecReader reader(reading, part.path, {{&part.node, part.position}});
  reader.leave_to_caller(part.others);
  reader.read(fields);
  report_unknown(reading, fields, part.path + ".");
}

std::string write_fields(const DescribeSpec& fields, const Tree* tree) {
  return emit_yaml(SpecWriter(Keys::on_top, tree ? layers_of(*tree) : Overlays{}).write(fields));
}

std::string write_departures(const DescribeSpec& standard, const DescribeSpec& own) {
  return emit_yaml(
      departures(SpecWriter(Keys::departures).write(standard), SpecWriter(Keys::departures).write(own)));
}

std::vector<SpecDifference> diff_fields(const DescribeSpec& a, const DescribeSpec& b) {
  // Inherited values differ where their parent's do, and are not said again; those set on one side only are
  // compared with what the other side inherits.
  std::vector<std::string> paths;
  for (const DescribeSpec* side : {&a, &b})
    for (const auto& [path, value] : flat(*side, Keys::on_top))
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  const auto full_a = flat(a, Keys::all), full_b = flat(b, Keys::all);
  std::vector<SpecDifference> differences;
  for (const std::string& path : paths) {
    SpecDifference difference{path, value_of(full_a, path), value_of(full_b, path)};
    if (difference.a != difference.b) differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace attnlab
