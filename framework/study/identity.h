// What a run is by content: two runs with the same keys have the same weights and scores, whatever their
// names and folders. Logging, paths and names are no part of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/spec.h"
#include "train/experiment_spec.h"
#include "train/program_digest.h"

namespace attnlab {

struct RunIdentity {
  std::string training;  // of the weights: model, training, precision in force, data; 64 hex digits
  std::string scoring;   // of the scores: the same with decoding and the metrics of the task
  std::string code;      // program_digest() of the program that ran it
};

// program_digest() together with the sources of the studies, in which the probes are.
std::string probe_digest();
// Of the sources that judge expectations, without comments and spaces.
std::string rule_digest();

// `data_hash` is content_hash of the task. Throws IoError if model.from names what cannot be read.
RunIdentity identity_of(const ExperimentSpec& spec, const std::string& data_hash);
// The same on a machine that computes in `precision` ("f32", "bf16", "f64"), started from `start`: a text
// that tells those weights from others, such as starting_weights_of.
RunIdentity identity_of(const ExperimentSpec& spec, const std::string& data_hash,
                        const std::string& precision, const std::string& start);

// What the weights of a run start from, by content, which its environment.json keeps as `starting_weights`;
// empty where they start from nothing. `resumed` is the folder that the run goes on in: what was noted there
// holds, since the file that it started from may be another one by now. Throws IoError.
std::string starting_weights_of(const ExperimentSpec& spec, const std::filesystem::path& resumed = {});

// The keys in which a run as `spec` says would be trained otherwise than the one in the folder; none if that
// has no config.yaml. Loads the data if another `data` is asked for, since its content counts. Throws
// ConfigError if config.yaml cannot be read, IoError, DataError.
std::vector<SpecDifference> training_differences(const ExperimentSpec& spec,
                                                 const std::filesystem::path& folder);

// Of the run in a folder, finished or not; nothing if there is none with a checkpoint, or if two
// configurations had part in it. `code` is empty where the folder does not say, and no program's where two
// had part in it.
std::optional<RunIdentity> identity_of_folder(const std::filesystem::path& folder);

}  // namespace attnlab
