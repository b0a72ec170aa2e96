// Numbers of a published model, or of one of our own runs, into the parameters of a model. Every tensor and
// every parameter is accounted for.
#pragma once

#include <string>
#include <vector>

#include "core/parameter.h"
#include "models/weight_family.h"
#include "train/weight_files.h"
#include "train/weight_report.h"

namespace attnlab {

// One tensor of the file and where it belongs, after layer numbers and prefixes.
struct Placement {
  std::string tensor;                   // as in the file
  std::vector<std::string> parameters;  // along the outputs
  bool transposed = false;
  bool other_head = false;  // of the output of a published model, which is never the head for a task's labels
  std::string same_as = {};  // of a tensor that another one repeats where the parameters do not exist
};

// The placements of a family for the names that a file has; names that no rule speaks of are left out.
std::vector<Placement> placements_of(const WeightFamily& family, const std::vector<std::string>& names);
// Every tensor is the parameter of its name: our own checkpoints.
std::vector<Placement> placements_by_name(const std::vector<std::string>& names);

// Writes the numbers as spec.weights says: as they are, permuted, or random ones of the same mean and
// deviation per parameter (from streams of `seed`). spec.reinit and spec.allow are patterns of what keeps its
// initial values (each parameter for itself, also where one tensor holds several) and of what may stay
// unused. Parameters that get no numbers are drawn. Throws ConfigError for a pattern of spec.reinit that
// matches neither a parameter nor what the file has; IoError with all problems at once, of many alike a
// handful and their number: layers that the file does not have, shapes that differ, a tied tensor that is no
// copy, what nothing explains, NaN and infinities by tensor; the parameters may then hold anything.
WeightReport place_weights(WeightFiles& files, const std::vector<Placement>& placements,
                           const std::vector<NotOurs>& not_ours, const ModelSpec& spec, std::uint64_t seed,
                           ParameterSet& parameters);

}  // namespace attnlab
