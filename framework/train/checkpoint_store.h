// The checkpoints of a run: DIR/checkpoints/step-N, with the links `last` and `best`; old ones are removed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint.h"

namespace attnlab {

// What an interruption left is kept besides, as long as it is the latest of all.
struct Retention {
  Index keep_last = 1;  // the latest so many of the schedule's
  Index keep_best = 1;  // and so many with the best scores
  bool higher_is_better = false;
};

class CheckpointStore {
 public:
  // Makes the folder if need be, removes what a killed run left half written, and repairs `last`. Only the
  // run that holds the folder's lock may have a store. A folder that is a link to another run's stays as it
  // is until something is saved. Throws IoError.
  CheckpointStore(std::filesystem::path folder, const Retention& retention);

  // Writes step-N, moves the links, then removes what retention does not keep; into a copy of its own if the
  // folder was a link. Throws IoError; everything that was there before is then still there.
  std::filesystem::path save(const ParameterSet& parameters, const Optimizer* optimizer,
                             const TrainingState& state, std::optional<double> score = {},
                             SavedFor reason = SavedFor::schedule);
  // Whether step-N is there, and only because of an interruption.
  bool off_schedule(Index step) const;

 private:
  void point_and_prune();
  std::filesystem::path folder_;
  Retention retention_;
};

// The latest checkpoint that can be read whole, with what is wrong with each later one. Throws IoError, that
// of the latest, if there are some and none can be read.
struct SoundCheckpoint {
  std::optional<Checkpoint> checkpoint;
  std::vector<std::filesystem::path> damaged;
  std::vector<std::string> problems;
};
SoundCheckpoint last_sound_checkpoint(const std::filesystem::path& folder);
// Renames step-N to damaged-step-N (replacing one of that name), so that it counts no more and nothing is
// lost.
void set_aside(const std::filesystem::path& checkpoint);

// Puts a copy of what it leads to in place of a folder that is a link; nothing for others. Throws IoError.
void own_copy(const std::filesystem::path& folder);

// The checkpoints in DIR/checkpoints by rising step. Empty if there is no such folder.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);
// Those of the schedule alone, which a run has however often it was broken off.
std::vector<std::filesystem::path> scheduled_checkpoints_in(const std::filesystem::path& folder);
// The latest, or the one that `best` points to; nothing if there is none.
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& folder);
std::optional<std::filesystem::path> best_checkpoint(const std::filesystem::path& folder);

}  // namespace attnlab
