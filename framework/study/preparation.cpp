#include "study/preparation.h"

#include <algorithm>
#include <filesystem>

#include "config/overlays.h"
#include "study/axes.h"
#include "study/study.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "prepared:";

// As `base:` does it; what was given with --set is relative to where the program runs.
std::string path_beside(const ConfigNode& named) {
  const std::string& from = *named.position.file;
  return from == "--set" ? named.text
                         : (fs::path(from).parent_path() / named.text).lexically_normal().string();
}

// Takes `config` out of the section of a preparation.
ConfigNode file_of(ConfigNode& section) {
  const ConfigNode::Entry* entry = section.find("config");
  ConfigNode file = entry ? entry->value : ConfigNode{};
  std::erase_if(section.entries, [](const auto& other) { return other.key == "config"; });
  return file;
}

// Where the study says its data are; null if it does not.
const ConfigNode* data_root(const Tree& study) {
  Overlays layers;
  for (const ConfigNode& layer : study.layers()) layers.push_back({&layer, layer.position});
  const Overlays found = overlays_of_path(layers, "data.root");
  return found.empty() ? nullptr : found.back().node;
}

void check(const Preparation& preparation, Problems& problems) {
  const auto spec = std::make_unique<ExperimentSpec>();
  read_spec(preparation.tree, *spec, problems);
  if (!prepared_name(spec->model.from).empty())
    problems.add(preparation.tree.where("model.from").value_or(preparation.position),
                 "a preparation cannot start from another one");
}

}  // namespace

std::string_view prepared_name(std::string_view from) {
  return from.starts_with(kPrefix) ? from.substr(kPrefix.size()) : std::string_view();
}

ConfigNode written_out(ConfigNode section) {
  for (ConfigNode::Entry& entry : section.entries)
    if (entry.value.type == ConfigNode::Type::scalar) {
      const SourcePosition place = entry.value.position;
      entry.value = assignment("config", std::move(entry.value));
      entry.value.position = place;
    }
  return section;
}

std::vector<Preparation> read_preparations(const ConfigNode& given, const Tree& study, Problems& problems) {
  std::vector<Preparation> all;
  if (given.type == ConfigNode::Type::null) return all;
  if (given.type != ConfigNode::Type::map) {
    problems.add(given.position, "'study.prepare' must be a section of named runs, found " + given.found());
    return all;
  }
  for (const ConfigNode::Entry& entry : written_out(given).entries) {
    const std::string path = "study.prepare." + entry.key;
    ConfigNode keys = entry.value;
    const ConfigNode file = file_of(keys);
    std::error_code error;
    if (!is_plain_name(entry.key))
      problems.add(entry.position,
                   "'" + entry.key.substr(0, 60) + "' is no name for a run: it becomes a folder");
    else if (file.type != ConfigNode::Type::scalar)
      problems.add(entry.position, "'" + path + "' needs 'config', the file of the run");
    else if (const std::string name = path_beside(file); !fs::is_regular_file(name, error))
      problems.add(file.position, "'" + path + "': there is no file " + name);
    else if (Tree tree = Tree::load({name}); is_study(tree))
      problems.add(file.position,
                   "'" + path + "': " + name + " is a study; what is prepared is a single run");
    else {
      if (const ConfigNode* root = data_root(study)) tree.add(assignment("data.root", *root));
      if (keys.type == ConfigNode::Type::map && !keys.entries.empty()) tree.add(std::move(keys));
      all.push_back({entry.key, entry.position, std::move(tree)});
      check(all.back(), problems);
    }
  }
  return all;
}

}  // namespace attnlab
