// `model.from`: weights to start from, out of one of our own runs or a published model.
#pragma once

#include <filesystem>

#include "train/build_model.h"
#include "train/weight_report.h"

namespace attnlab {

// A checkpoint folder: `path` itself, or the best or else the last checkpoint of the run folder `path`.
// Throws IoError with what was expected there.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

// When a model whose starting weights are loaded next needs its initial values: not where spec.model.from
// names something.
InitialValues initial_values_before_start(const ExperimentSpec& spec);

// Sets the weights if spec.model.from names something, and returns what became of each tensor; see
// place_weights.h. What the file does not set gets its initial values. Throws IoError; ConfigError where the
// model is to train but all its adapters are zero and frozen, and for a pattern of spec.model.reinit that
// matches nothing.
WeightReport load_starting_weights(const ExperimentSpec& spec, BuiltModel& built);

}  // namespace attnlab
