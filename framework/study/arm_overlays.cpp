#include "study/arm_overlays.h"

#include "config/overlays.h"
#include "config/spec.h"
#include "study/axes.h"
#include "train/experiment_spec.h"

namespace attnlab {

ConfigNode number_node(const std::string& text, const SourcePosition& position) {
  ConfigNode node;
  node.type = ConfigNode::Type::scalar;
  node.text = text;
  node.position = position;
  return node;
}

ConfigNode untrained_overlay(const Tree& tree, const SourcePosition& position) {
  std::vector<ConfigNode> parts;
  const auto set = [&](const std::string& key, const char* value) {
    parts.push_back(assignment(key, number_node(value, position)));
  };
  set("train.max_steps", "1");
  set("train.average_last", "0");
  std::vector<std::string> rated{"train"};
  for (const FieldDoc& field : describe(ExperimentSpec()))
    if (field.path.starts_with("train.groups.") && field.type == "section" && tree.where(field.path))
      rated.push_back(field.path);
  for (const std::string& part : rated) {
    set(part + ".learning_rate", "1e-30");
    set(part + ".schedule", "constant");
  }
  Overlays layers;
  for (const ConfigNode& part : parts) layers.push_back({&part, position});
  return merge(layers);
}

}  // namespace attnlab
