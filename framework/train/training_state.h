// All that a run must remember besides weights and moments, so that it can go on from there to the bit.
// Random numbers need no state of their own: they are pure functions of (seed, stream, step, index).
#pragma once

#include <cstdint>
#include <string>

#include "train/divergence.h"
#include "train/early_stopping.h"
#include "train/loss_sums.h"

namespace attnlab {

struct TrainingState {
  Index step = 0;              // accumulation windows done, skipped updates included
  Index updates = 0;           // made by the optimiser
  Index epoch = 0, batch = 0;  // where the next window begins
  Index tokens_seen = 0;       // target tokens
  std::uint64_t seed = 0;
  std::string precision;   // of activations: f32, bf16, f64
  std::string isa;         // bits are only promised on the same instruction set
  std::string data;        // content_hash of the task, so that another corpus is noticed
  Index batch_tokens = 0;  // the batches depend on it
  double training_seconds = 0;
  BestSoFar best;
  SkippedUpdates skipped;
  LossSums interval;  // since the last log line
  double interval_seconds = 0;
  bool validation_due = false;  // the run ended after a step whose validation had not been made

  bool operator==(const TrainingState&) const = default;
};

// As flat records, and back. The reverse throws IoError if something is missing.
Record to_record(const TrainingState& state);
TrainingState training_state(const Record& record);

}  // namespace attnlab
