// A whole experiment from its spec: data, model, training with validation and checkpoints, test scores, run
// folder.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/task.h"
#include "train/build_model.h"
#include "train/interrupt.h"
#include "train/run_folder.h"

namespace attnlab {

struct ProfileOptions {
  bool on = false;
  bool rooflines = false;  // also ask what the library reaches on each product
};

struct RunOptions {
  std::filesystem::path folder;
  FolderMode mode = FolderMode::fresh;
  Deadline deadline;
  RunPapers papers;  // environment: what the program adds to environment_record()
  ProfileOptions profile;
};

struct RunOutcome {
  int exit_code = 0;  // 0, or 128 + n after signal n
  Record result;      // what result.json holds; empty if the run was finished before
};

// Throws ConfigError, DataError, DivergedError, IoError. Logs to stderr. With a profile: its table goes to
// the log and to profile.txt in the folder, all of it to profile.json, and the timeline of the first steps to
// trace.json.
RunOutcome run_experiment(const ExperimentSpec& spec, const RunOptions& options);

// The name of a task's trivial baseline among the results of a run: "baseline_root_operator".
std::string column_of(const TrivialBaseline& baseline);

// Builds, takes one step, validates a little, saves and loads, in a temporary folder that is removed; returns
// what trains at which rates, and memory and time estimates, as text.
std::string dry_run(const ExperimentSpec& spec);

}  // namespace attnlab
