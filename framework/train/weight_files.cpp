#include "train/weight_files.h"

#include <nlohmann/json.hpp>
#include <set>

#include "core/json_fault.h"
#include "train/safetensors_header.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The only .safetensors file of a folder. Throws IoError if there is none, or more than one.
fs::path only_file(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
  if (found.size() == 1) return found.front();
  throw IoError(join_text(folder.string(),
                          ": expected model.safetensors, model.safetensors.index.json, or one ",
                          ".safetensors file; there are ", found.size(),
                          fs::exists(folder / "pytorch_model.bin", error)
                              ? " (pytorch_model.bin cannot be read; it has to be converted)"
                              : ""));
}

}  // namespace

WeightFiles::WeightFiles(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw IoError(path.string() + ": no such file or folder");
  const std::string name = path.filename().string();
  if (!fs::is_directory(path, error)) {
    name.ends_with(".index.json") ? add_sharded(path) : add(path);
  } else if (fs::exists(path / "model.safetensors", error)) {
    add(path / "model.safetensors");
  } else if (fs::exists(path / "model.safetensors.index.json", error)) {
    add_sharded(path / "model.safetensors.index.json");
  } else if (fs::exists(path / kLlama2cModel, error)) {
    add(path / kLlama2cModel);
  } else {
    add(only_file(path));
  }
}

void WeightFiles::add(const fs::path& path) {
  files_.push_back(std::make_unique<SafetensorsFile>(path));
  for (const TensorEntry& entry : files_.back()->entries())
    if (!places_.emplace(entry.name, Place{files_.back().get(), &entry}).second)
      throw IoError(path.string() + ": '" + entry.name + "' stands in another file of the same model, too");
}

void WeightFiles::add_sharded(const fs::path& index) {
  const std::string text = read_small_file(index);
  if (const std::string fault = json_fault(text); !fault.empty()) throw IoError(index.string() + " " + fault);
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object())
    throw IoError(index.string() + " is damaged: no object 'weight_map'");
  std::map<std::string, std::string> file_of;
  std::set<std::string> files;
  for (const auto& [name, file] : root["weight_map"].items()) {
    const std::string where = file.is_string() ? file.get<std::string>() : "";
    if (!printable(name)) throw IoError(index.string() + " is damaged: a name holds control characters");
    if (where.empty() || where == "." || where == ".." || fs::path(where).filename() != where)
      throw IoError(index.string() + ": '" + name + "' lies in no file of this folder: " + file.dump());
    file_of[name] = where;
    files.insert(where);
  }
  if (files.empty()) throw IoError(index.string() + ": the index names no file");
  for (const auto& file : files) add(index.parent_path() / file);
  for (const auto& [name, file] : file_of)
    if (!has(name) || places_.at(name).file->path().filename() != file)
      throw IoError(index.string() + ": '" + name + "' should lie in " + file + ", but does not");
  for (const auto& [name, place] : places_)
    if (file_of.count(name) == 0)
      throw IoError(place.file->path().string() + ": '" + name + "' is not in the index");
}

std::vector<std::string> WeightFiles::names() const {
  std::vector<std::string> all;
  for (const auto& [name, place] : places_) all.push_back(name);
  return all;
}

std::vector<fs::path> WeightFiles::paths() const {
  std::vector<fs::path> all;
  for (const auto& file : files_) all.push_back(file->path());
  return all;
}

const TensorEntry& WeightFiles::entry(const std::string& name) const { return *places_.at(name).entry; }

Tensor WeightFiles::read(const std::string& name, DType type) {
  const Place& place = places_.at(name);
  return place.file->read(*place.entry, type);
}

std::string WeightFiles::describe() const {
  std::set<std::string> types;
  for (const auto& [name, place] : places_) types.insert(to_string(place.entry->type));
  std::string text = join_text(places_.size(), " tensors in ");
  for (const auto& type : types) text += (type == *types.begin() ? "" : ", ") + type;
  return text + (files_.size() > 1 ? join_text(", ", files_.size(), " files") : "");
}

}  // namespace attnlab
