// The tensors of a published model, wherever they lie: one safetensors file, or several with an index.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/safetensors.h"

namespace attnlab {

inline constexpr const char* kLlama2cModel = "model.bin";  // a model of llama2.c in a folder

class WeightFiles {
 public:
  // `path`: a .safetensors file, one of llama2.c (.bin), or a folder with model.safetensors,
  // model.safetensors.index.json, one .safetensors file of any name, or llama2.c's model.bin. Throws IoError:
  // none of these, damaged, or index and files disagree.
  explicit WeightFiles(const std::filesystem::path& path);

  bool has(const std::string& name) const { return places_.count(name) > 0; }
  std::vector<std::string> names() const;  // in alphabetical order
  const TensorEntry& entry(const std::string& name) const;
  // The numbers as a tensor of that type. Throws IoError.
  Tensor read(const std::string& name, DType type);
  const std::map<std::string, std::string>& metadata() const { return files_.front()->metadata(); }
  std::vector<std::filesystem::path> paths() const;
  std::string describe() const;  // "148 tensors in F32"

 private:
  struct Place {
    SafetensorsFile* file;
    const TensorEntry* entry;
  };
  void add(const std::filesystem::path& path);
  void add_sharded(const std::filesystem::path& index);
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, Place> places_;
};

}  // namespace attnlab
