#include "train/published_model.h"

#include <nlohmann/json.hpp>

#include "config/registry.h"
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
  return files != nullptr ? config_of_metadata(files->metadata(), path.string()) : PublishedConfig();
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

// Throws IoError where config.json speaks of a model that is larger than its files: building it would take
// memory that no weights fill.
void check_size(const ModelKeys& keys, const PublishedConfig& config, const WeightFiles& files) {
  double numbers = 0;
  for (const auto& name : files.names()) numbers += static_cast<double>(files.entry(name).count());
  std::map<std::string, double> sizes{{"width", 0}, {"layers", 0}, {"feed_forward", 0}, {"vocabulary", 0}};
  for (const auto& [key, value] : keys)
    if (sizes.count(key) > 0) sizes[key] = std::strtod(value.c_str(), nullptr);
  const double layers = sizes["layers"] * sizes["width"] * sizes["feed_forward"];
  if (sizes["vocabulary"] * sizes["width"] > numbers || layers > numbers)
    throw IoError(config.file() + ": speaks of " + plain(sizes["layers"]) + " layers of " +
                  plain(sizes["width"]) + " columns, feed-forward " + plain(sizes["feed_forward"]) +
                  ", vocabulary " + plain(sizes["vocabulary"]) + ": more than the " + plain(numbers) +
                  " numbers in the files");
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
    return name.ends_with(".safetensors") || name.ends_with(".index.json");
  if (!fs::is_directory(path, error) || fs::exists(path / "state.json", error)) return false;
  if (fs::exists(path / "model.safetensors.index.json", error)) return true;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".safetensors") return true;
  return false;
}

std::string published_keys(const fs::path& path) {
  const PublishedModel model(path);
  const ModelKeys keys = model.family->keys(model.config);
  if (keys.empty()) return {};
  check_size(keys, model.config, model.files);
  std::string text = "model:\n";
  for (const auto& [key, value] : keys) text += "  " + key + ": " + value + "\n";
  return text;
}

}  // namespace attnlab
