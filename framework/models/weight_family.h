// Families of published models: which tensors of their files are which of our parameters, and what their
// config.json says in keys of `model:`. One .cpp a family, data and nothing else; the work is done by
// train/place_weights.h and train/export_model.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/published_config.h"
#include "models/spec.h"

namespace attnlab {

// A tensor of the file and the parameters that it holds. {i} in names is the number of a layer.
struct TensorRule {
  std::string tensor;                   // "h.{i}.attn.c_attn.weight"
  std::vector<std::string> parameters;  // several lie side by side along the outputs
  bool transposed = false;              // the file has [in, out], we have [out, in]
  std::string same_as = {};  // the tensor that it repeats where our parameters do not exist (a tied output)
};

// Tensors that are no weights of our model, by pattern, and what they are.
struct NotOurs {
  std::string pattern, what;
};

// Keys under `model:` with their values as YAML.
using ModelKeys = std::vector<std::pair<std::string, std::string>>;

struct WeightFamily {
  static constexpr const char* kRegistry = "weight_family";
  virtual ~WeightFamily() = default;
  // `model_type` in config.json; empty: its files come without one.
  virtual std::string model_type() const = 0;
  // What may stand before names, by the class that saved the file; the first is that of the bare model.
  virtual std::vector<std::string> prefixes() const { return {""}; }
  // What stands before the names of the body when a model of ours is written.
  virtual std::string prefix_of(const ModelSpec&) const { return prefixes().back(); }
  // Every tensor; the first is one that any file has, and tells the family where nothing else does.
  virtual std::vector<TensorRule> rules() const = 0;
  virtual std::vector<NotOurs> not_ours() const { return {}; }
  // Endings of names in old files and what they are now.
  virtual std::vector<std::pair<std::string, std::string>> old_endings() const { return {}; }
  // What config.json says. Throws IoError for what our models cannot be.
  virtual ModelKeys keys(const PublishedConfig& config) const = 0;
  // config.json for a model of ours, as keys and JSON values; empty: none is written. What it cannot say is
  // found by reading it back.
  virtual std::vector<std::pair<std::string, std::string>> config(const ModelSpec& spec,
                                                                  Index vocabulary) const = 0;
};

// The stack of a model with one side: the decoder's or the encoder's.
inline const StackSpec& only_stack(const ModelSpec& spec) {
  return spec.kind == ModelKind::encoder ? spec.encoder : spec.decoder;
}

// A JSON or YAML scalar.
std::string plain(bool value);
std::string plain(Index value);
std::string plain(double value);  // with all digits

}  // namespace attnlab
