// A checkpoint: a folder with model.safetensors, optimizer.safetensors and state.json, which holds the
// format's version, the training state and the digests of the other two. It appears under its name in one
// step or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "train/optimizer.h"
#include "train/training_state.h"

namespace attnlab {

inline constexpr Index kCheckpointVersion = 1;

// Why a checkpoint was saved. An unbroken run has those of the schedule and no others.
enum class SavedFor { schedule, interruption };

// Writes `folder`, replacing one of the same name. Throws IoError; what was there before is then still there.
// The optimiser may be null: weights alone. `score` is that of a validation at this step, if there was one.
void write_checkpoint(const std::filesystem::path& folder, const ParameterSet& parameters,
                      const Optimizer* optimizer, const TrainingState& state,
                      std::optional<double> score = {}, SavedFor reason = SavedFor::schedule);

class Checkpoint {
 public:
  enum class Parts { all, weights };  // weights: what the optimiser left is not looked at and may be missing
  // Reads the state and checks that the files are whole. Throws IoError: missing, damaged, or of another
  // version.
  explicit Checkpoint(std::filesystem::path folder, Parts parts = Parts::all);

  const std::filesystem::path& folder() const { return folder_; }
  const TrainingState& state() const { return state_; }
  std::optional<double> score() const { return score_; }
  // Sets all weights, or none and throws IoError: names and shapes must be those of the set. Types are
  // converted.
  void load_weights(ParameterSet& parameters) const;
  // The same with the optimiser's moments and count.
  void load(ParameterSet& parameters, Optimizer& optimizer) const;

 private:
  std::filesystem::path folder_;
  TrainingState state_;
  std::optional<double> score_;
};

// Sets weights from a safetensors file, all or none. Throws IoError as above.
void load_weights(const std::filesystem::path& file, ParameterSet& parameters);

// Sets weights to the mean of the checkpoints' weights, summed in f64. Throws IoError.
void load_average(const std::vector<std::filesystem::path>& folders, ParameterSet& parameters);

}  // namespace attnlab
