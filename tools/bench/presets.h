// The models that speed is measured on, and random data for them.
#pragma once

#include <string>
#include <vector>

#include "core/dtype.h"
#include "data/batches.h"
#include "train/build_model.h"

namespace attnlab {

struct Preset {
  std::string name;
  Index layers, width, heads, feed_forward, vocabulary, batch, length;  // layers: of each side
  double dropout;
  bool language_model;
  Index rows() const { return batch * length; }  // of each side
};

// toy, tiny, small, base, gpt2.
const std::vector<Preset>& presets();
// All of them for an empty name. Throws ConfigError for an unknown one.
std::vector<Preset> presets_named(const std::string& name);

// Pre-norm, tied embeddings, learned positions; a negative dropout means the preset's.
ExperimentSpec spec_of(const Preset& preset, double dropout);
std::unique_ptr<BuiltModel> build_preset(const Preset& preset, const ExperimentSpec& spec, DType type,
                                         bool training);

// Sentences of equal length with random words; other ones for each number.
Batch random_batch(const Preset& preset, std::uint64_t number);

}  // namespace attnlab
