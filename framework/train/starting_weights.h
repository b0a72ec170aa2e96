// `model.from`: weights to start from, out of one of our own runs or a published model.
#pragma once

#include <filesystem>

#include "train/build_model.h"
#include "train/weight_report.h"

namespace attnlab {

// A checkpoint folder: `path` itself, or the best or else the last checkpoint of the run folder `path`.
// Throws IoError with what was expected there.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

// Sets the weights if spec.model.from names something, and returns what became of each tensor; see
// place_weights.h. Throws IoError.
WeightReport load_starting_weights(const ExperimentSpec& spec, BuiltModel& built);

}  // namespace attnlab
