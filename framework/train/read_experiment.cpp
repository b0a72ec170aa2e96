// Experiments read more than their own text: where model.from names a published model, what that model says
// of itself lies below all of it.
#include <filesystem>

#include "config/error.h"
#include "config/overlays.h"
#include "config/problems.h"
#include "config/spec.h"
#include "train/experiment_spec.h"
#include "train/published_model.h"

namespace attnlab {
namespace {

// The last value of model.from, or nothing.
const ConfigNode* model_from(const Tree& tree) {
  Overlays layers;
  for (const ConfigNode& node : tree.layers()) layers.push_back({&node, node.position});
  const Overlays found = overlays_of_path(layers, "model.from");
  return found.empty() || found.back().node->type != ConfigNode::Type::scalar ? nullptr : found.back().node;
}

// Where keys are missing or do not fit, the reason may be that none came from where the weights are.
void note_missing_keys(const ConfigNode& from, Problems& problems) {
  std::error_code ignored;
  if (from.text.empty() || from.text.starts_with("prepared:") || is_published_model(from.text)) return;
  if (!std::filesystem::exists(from.text, ignored))
    problems.add(from.position, "'model.from': there is no '" + from.text +
                                    "', so that no keys of the model come from its config.json");
  else
    problems.add(from.position, "'model.from': '" + from.text +
                                    "' is no published model, and the keys of a run are not taken from it; "
                                    "for those say base: RUN/config.yaml");
}

}  // namespace

void read_spec(const Tree& tree, ExperimentSpec& spec, Problems& problems) {
  const ConfigNode* from = model_from(tree);
  if (from != nullptr && is_published_model(from->text)) {
    try {
      const std::string keys = published_keys(from->text);
      read_fields(Tree::parse(keys, from->text), fields_of(spec), problems);
    } catch (const IoError& error) {
      problems.add(from->position, error.what());
    }
  }
  const bool sound = problems.empty();
  read_fields(tree, fields_of(spec), problems);
  if (from != nullptr && sound && !problems.empty()) note_missing_keys(*from, problems);
}

void read_spec(const Tree& tree, ExperimentSpec& spec) {
  Problems problems;
  read_spec(tree, spec, problems);
  if (!problems.empty()) throw ConfigError(problems.text(tree.file_order()));
}

}  // namespace attnlab
