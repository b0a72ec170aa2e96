#include "train/published_model.h"

#include <nlohmann/json.hpp>

#include "config/problems.h"
#include "config/registry.h"
#include "config/spec.h"
#include "train/experiment_spec.h"
#include "train/place_weights.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Numbers in the metadata of a file are text.
PublishedConfig config_of_metadata(const std::map<std::string, std::string>& metadata,
                                   const std::string& file) {
  nlohmann::json root = nlohmann::json::object();
  for (const auto& [key, text] : metadata) {
    const auto value = nlohmann::json::parse(text, nullptr, false);
    root[key] = value.is_number() || value.is_boolean() ? value : nlohmann::json(text);
  }
  return {root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), file};
}

PublishedConfig config_beside(const fs::path& path, const WeightFiles* files) {
  const fs::path file = folder_of(path) / "config.json";
  std::error_code error;
  if (fs::exists(file, error)) return {read_small_file(file, 4U << 20), file.string()};
  return files != nullptr ? config_of_metadata(files->metadata(), path.string() + " (no config.json)")
                          : PublishedConfig();
}

// By the type that config.json states, or else by a tensor that only one family has.
std::shared_ptr<WeightFamily> family_of(const PublishedConfig& config, const WeightFiles& files,
                                        const fs::path& path) {
  const std::string type = config.text("model_type", "");
  std::string known;
  for (const auto& kind : Registry<WeightFamily>::list()) {
    auto family = Registry<WeightFamily>::make(kind.name);
    known += (known.empty() ? "" : ", ") + kind.name;
    if (type.empty()) {
      for (const auto& prefix : family->prefixes())
        if (files.has(prefix + family->rules().front().tensor)) return family;
    } else if (family->model_type() == type) {
      return family;
    }
  }
  throw IoError(path.string() + ": a model of " +
                (type.empty() ? "an unknown family, without a config.json that names it"
                              : "the type '" + type + "', which attnlab cannot read") +
                "; known families are " + known);
}

Index head_width(const ModelSpec& spec) {
  return spec.stack.attention->key_width.value_or(spec.width / spec.stack.heads);
}

// Numbers that a model of this spec has at the least: keys and values may be shared, outputs tied.
double fewest_numbers(const ModelSpec& spec) {
  const StackSpec& stack = spec.stack;
  const auto number = [](Index n) { return static_cast<double>(n); };
  const double rows = number(spec.vocabulary.value_or(0)) + number(spec.token_types) +
                      (spec.positions.kind == PositionKind::learned ? number(spec.positions.max_length) : 0);
  const double inner = number(stack.heads) * number(head_width(spec)) + number(stack.feed_forward);
  return number(spec.width) * (rows + 2 * number(stack.layers) * inner);
}

// Throws IoError where config.json speaks of a model that is larger than its files: building it would take
// memory that no weights fill.
void check_size(const ModelSpec& spec, const PublishedConfig& config, const WeightFiles& files) {
  double numbers = 0;
  for (const auto& name : files.names()) numbers += static_cast<double>(files.entry(name).count());
  const double fewest = fewest_numbers(spec);
  if (fewest <= numbers) return;
  throw IoError(join_text(
      config.file(), ": speaks of ", spec.stack.layers, " layers of ", spec.width, " columns, feed-forward ",
      spec.stack.feed_forward, ", ", spec.stack.heads, " heads of ", head_width(spec), ", vocabulary ",
      spec.vocabulary.value_or(0), ", ", spec.positions.max_length, " positions, ", spec.token_types,
      " token types: at least ", plain(fewest), " numbers, more than the ", plain(numbers), " in the files"));
}

}  // namespace

PublishedModel::PublishedModel(const fs::path& path) : files(path) {
  config = config_beside(path, &files);
  family = family_of(config, files, path);
}

bool is_published_model(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string();
  if (fs::is_regular_file(path, error) && fs::exists(folder_of(path) / "state.json", error)) return false;
  if (fs::is_regular_file(path, error))
    return name.ends_with(".safetensors") || name.ends_with(".index.json") || name.ends_with(".bin");
  if (!fs::is_directory(path, error) || fs::exists(path / "state.json", error)) return false;
  if (fs::exists(path / "model.safetensors.index.json", error)) return true;
  if (fs::exists(path / kLlama2cModel, error)) return true;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".safetensors") return true;
  return false;
}

std::string published_keys(const fs::path& path) {
  const PublishedModel model(path);
  const ModelKeys keys = model.family->keys(model.config);
  if (keys.empty()) return {};
  std::string text = "model:\n";
  for (const auto& [key, value] : keys) text += "  " + key + ": " + value + "\n";
  ExperimentSpec spec;
  Problems problems;
  read_fields(Tree::parse(text, path.string()), fields_of(spec), problems);
  // Values that no model can have are for whoever reads the keys to report.
  if (problems.empty()) check_size(spec.model, model.config, model.files);
  return text;
}

}  // namespace attnlab
