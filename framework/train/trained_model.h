// A trained model out of a run folder: spec, tokenizers and weights. It needs no corpus.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "train/build_model.h"

namespace attnlab {

struct TrainedModel {
  std::filesystem::path folder;  // of the run
  std::unique_ptr<ExperimentSpec> spec;
  std::shared_ptr<const Tokenizer> source, target;  // as in a Task
  VocabularySizes shape;                            // of a task with labels: its vectors and answers
  std::unique_ptr<BuiltModel> built;                // without gradients
  std::string weights;                              // where they are from
  std::string data;                                 // content_hash of what they were trained on
  const Transformer& model() const { return *built->model; }
  VocabularySizes sizes() const;  // to build such a model again
};

// `run` is a run folder or a checkpoint in it; `assignments` (as of --set) lie on top of its config.yaml.
// Logs what other code made it (other_code.h). Throws IoError where it is neither, or damaged; ConfigError
// for the assignments.
TrainedModel load_trained_model(const std::filesystem::path& run,
                                const std::vector<std::string>& assignments = {});

// What a run is scored with.
struct ScoredWeights {
  std::string name;           // "checkpoint step-20"
  std::optional<Index> step;  // of the checkpoint; unset for a mean of several
};

// Sets the weights that a run is scored with: the mean of the last train.average_last checkpoints of the
// schedule, else the best one, else the last. Returns which. Throws IoError if there is none.
ScoredWeights load_scored_weights(const ExperimentSpec& spec, const std::filesystem::path& checkpoints,
                                  ParameterSet& parameters);

}  // namespace attnlab
