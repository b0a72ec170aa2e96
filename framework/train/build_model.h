// From the spec of an experiment to a model with its weights, and from a batch of data to its input.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "data/batches.h"
#include "data/task.h"
#include "models/transformer.h"
#include "train/experiment_spec.h"

namespace attnlab {

struct PrecisionChoice {
  DType type = DType::f32;
  std::string reason;  // for the log
};

// What `precision` means on this CPU: auto takes bf16 only where it is multiplied natively.
PrecisionChoice choose_precision(Precision wanted);

VocabularySizes vocabulary_of(const Task& task);

// A model and the weights it points to; they live and die together.
struct BuiltModel {
  ParameterSet parameters;
  std::unique_ptr<Transformer> model;
};

// Declares, lays out and fills the weights. `training`: gradients for what spec.train.which selects;
// otherwise none. `values`: zero where all weights are set afterwards. Throws ConfigError where the model
// cannot be built.
std::unique_ptr<BuiltModel> build_model(const ExperimentSpec& spec, const VocabularySizes& vocabulary,
                                        DType type, bool training,
                                        InitialValues values = InitialValues::drawn);

// How many tokens of a source the model has room for, and how many of what its decoder reads. Unset: any
// number.
struct LongestInput {
  std::optional<Index> source, target;
};
LongestInput longest_input(const ModelSpec& spec);

// Throws ConfigError if the model does not fit the task: labels of whole examples need a pooled head, and it
// needs them; a language model needs a task without sources, the others need sources, and an encoder without
// a pooled head needs as many labels as source tokens (DataError names the example). DataError, too, where
// the model has no room for the longest source or target of a split, or a test split has no examples.
void check_fit(const ExperimentSpec& spec, const Task& task);

TokenRows source_of(const Batch& batch);  // ids or vectors
ModelInput input_of(const Batch& batch, ModelKind kind);

}  // namespace attnlab
