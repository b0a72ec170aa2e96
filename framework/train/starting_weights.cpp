#include "train/starting_weights.h"

#include "train/checkpoint_store.h"
#include "train/log.h"

namespace attnlab {

std::filesystem::path find_checkpoint(const std::filesystem::path& path) {
  if (std::filesystem::exists(path / "state.json")) return path;
  if (const auto best = best_checkpoint(path / "checkpoints")) return *best;
  if (const auto last = last_checkpoint(path / "checkpoints")) return *last;
  throw IoError(path.string() +
                ": neither a checkpoint (a folder with state.json) nor a run folder with checkpoints");
}

void load_starting_weights(const ExperimentSpec& spec, BuiltModel& built) {
  if (spec.model.from.empty()) return;
  const auto folder = find_checkpoint(spec.model.from);
  Checkpoint(folder, Checkpoint::Parts::weights).load_weights(built.parameters);
  log_info("starting weights from " + folder.string());
}

}  // namespace attnlab
