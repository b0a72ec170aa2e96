// Training, one accumulation window at a time. Everything that happens is a pure function of (config, data,
// state), so that a run which goes on from a checkpoint ends with the bits of one that was never broken.
#pragma once

#include <memory>
#include <optional>

#include "data/batches.h"
#include "data/task.h"
#include "train/checkpoint_store.h"
#include "train/features.h"
#include "train/rate_groups.h"
#include "train/window.h"

namespace attnlab {

struct StepReport {
  LossSums sums;
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  bool updated = true;  // false: skipped, because a number was not finite
  double seconds = 0;
};

class Trainer {
 public:
  // Keeps references to all three. `data_hash` names the data in checkpoints (content_hash of the task).
  // Throws DataError without training examples.
  Trainer(const ExperimentSpec& spec, const Task& task, BuiltModel& built, std::string data_hash);

  // The next window and its update. Throws DivergedError as train.divergence says; the message names the op
  // and module where numbers first went wrong.
  StepReport step();
  // Loss over the validation split without dropout, as valid_loss, valid_nll, …; empty if there is no split.
  // Nothing if a signal came in between.
  std::optional<Record> validate() const;

  std::filesystem::path save(CheckpointStore& store, std::optional<double> score = {},
                             SavedFor reason = SavedFor::schedule) const;
  // Goes on from a checkpoint of the same config and data. Throws IoError if it is damaged, or of another
  // model, data, seed or precision; nothing is changed then.
  void resume(const Checkpoint& checkpoint);

  // Takes what the head reads from here instead of computing it in every step.
  void use_features(Features features) { features_ = std::move(features); }

  bool finished() const;     // the steps, or the epochs, are used up
  bool epoch_ended() const;  // the next window begins a new epoch
  double epoch() const;      // passes over the data so far, with fractions
  Index total_steps() const {
    return total_steps_;
  }  // as far as can be told before: epochs may differ in batches
  const RateGroups& rates() const { return *rates_; }
  Retention retention() const;
  TrainingState& state() { return state_; }
  const TrainingState& state() const { return state_; }

 private:
  std::vector<Batch> next_window();
  void change_examples(Batch& batch) const;
  bool sound(const std::vector<Batch>& window, const StepReport& report);
  WindowOptions window_options(bool find_nan) const;

  const ExperimentSpec& spec_;
  const Task& task_;
  BuiltModel& built_;
  std::unique_ptr<Optimizer> optimizer_;
  BatchStream stream_;
  std::unique_ptr<RateGroups> rates_;
  Index total_steps_ = 0;
  TrainingState state_;
  Features features_;
};

}  // namespace attnlab
