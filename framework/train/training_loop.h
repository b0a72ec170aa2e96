// The course of a run: steps, log lines, validations, checkpoints, and the reasons to end.
#pragma once

#include <functional>

#include "core/profile.h"
#include "train/interrupt.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace attnlab {

enum class EndReason { steps_done, early_stopped, out_of_time, interrupted };

struct LoopOptions {
  Deadline deadline;
  // Further valid_* metrics, such as valid_bleu of a decoded split; may be empty.
  std::function<Record()> scores;
  Profile* profile = nullptr;  // of the steps
};

struct LoopResult {
  EndReason reason = EndReason::steps_done;
  int signal = 0;          // that interrupted
  Record last_validation;  // empty if there was none
};

// Trains until the end, writing metrics and checkpoints into the folder, which must have begun. The state of
// the trainer is saved before it returns, whatever the reason. What throws (DivergedError, IoError) leaves
// the last checkpoint.
LoopResult run_training(const ExperimentSpec& spec, Trainer& trainer, const RunFolder& folder,
                        const LoopOptions& options = {});

std::string to_string(
    EndReason reason);  // for result.json: "done", "early_stopped", "out_of_time", "interrupted"

}  // namespace attnlab
