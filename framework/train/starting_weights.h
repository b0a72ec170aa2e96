// `model.from`: weights to start from, out of one of our own runs.
#pragma once

#include <filesystem>

#include "train/build_model.h"

namespace attnlab {

// A checkpoint folder: `path` itself, or the best or else the last checkpoint of the run folder `path`.
// Throws IoError with what was expected there.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

// Sets the weights if spec.model.from names something; names and shapes must agree. Throws IoError.
void load_starting_weights(const ExperimentSpec& spec, BuiltModel& built);

}  // namespace attnlab
