// A published model on disk: its weights, its config.json and its family.
#pragma once

#include <filesystem>
#include <memory>

#include "models/weight_family.h"
#include "train/weight_files.h"

namespace attnlab {

struct PublishedModel {
  explicit PublishedModel(const std::filesystem::path& path);  // throws IoError
  std::shared_ptr<WeightFamily> family;
  PublishedConfig config;  // of config.json beside the weights, or else of the file's own metadata
  WeightFiles files;
};

// Whether `path` is a published model and not one of our runs: a .safetensors file, an index, a file
// of llama2.c (.bin), or a folder with one of them. False for what does not exist.
bool is_published_model(const std::filesystem::path& path);

// The keys under `model:` that such a model states, as YAML; empty where it states none. Throws IoError.
std::string published_keys(const std::filesystem::path& path);

}  // namespace attnlab
