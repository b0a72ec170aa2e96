// One run of a study on its way: found again, waiting, running in a process of its own, ended.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "study/child.h"
#include "study/plan.h"
#include "study/results.h"
#include "study/run_index.h"

namespace attnlab {

struct JobOptions {
  std::vector<std::string> program;
  std::filesystem::path papers;  // where configurations and logs go
  int threads = 0;               // of each run; 0: as many as it finds
  bool reuse_stale = false;
  bool look_only = false;  // folders stay as they are
};

bool interrupted_code(int code);  // it ended because it was asked to

// result.json of a run; empty if it is not there. Throws IoError if it is damaged.
Record values_in(const std::filesystem::path& run);

enum class JobState { waiting, running, done, diverged, failed, stopped };

class Job {
 public:
  Job(PlannedRun run, const JobOptions& options);

  const PlannedRun& run() const { return run_; }
  const std::string& name() const { return run_.name; }
  JobState state() const { return state_; }
  bool ended() const { return state_ != JobState::waiting && state_ != JobState::running; }
  bool found() const { return found_; }                                // it was there already
  bool stale() const { return stale_; }                                // and is of other code
  const RunResult* kept() const { return kept_ ? &*kept_ : nullptr; }  // set where only its numbers are there
  bool replaces_stale() const { return replaces_stale_; }
  const std::string& error() const { return error_; }
  const std::string& code() const { return code_; }  // digest of the code that made the result
  double seconds() const;                            // that it has run or did run in this process
  const Record& values() const;                      // result.json, read once it is done

  // For a run that waited for what it starts from: takes its identity, or fails where there is none.
  void identify(const Planner& planner);
  void give_up(const std::string& reason);
  // Counts as done by a result without a folder.
  void take(const RunResult& kept);
  // Looks for a result (false while its identity is unknown), here or by content among all runs; true if
  // there is one.
  bool look(RunIndex& index);
  // Starts it, from a checkpoint if there is one of the same weights. `all` are the jobs of the study, some
  // of which may link to weights in its folder. What keeps it from starting is its failure.
  void start(RunIndex& index, const std::list<Job>& all);
  // Whether it has ended since the last call.
  bool poll(RunIndex& index);
  void ask_to_end() const;
  // Share of the steps that a running one has done.
  double progress() const;

 private:
  bool matches(const RunIdentity& identity) const;
  void launch(RunIndex& index, const std::list<Job>& all);
  void keep_weights_of(const std::filesystem::path& folder) const;
  void take_result(const RunIdentity& identity);
  void fail(int code, const Child& child);

  PlannedRun run_;
  const JobOptions& options_;
  JobState state_ = JobState::waiting;
  std::unique_ptr<Child> child_;
  std::chrono::steady_clock::time_point started_, ended_;
  std::filesystem::path log_, config_;
  double total_steps_ = 0, total_epochs_ = 0;
  bool found_ = false, stale_ = false, replaces_stale_ = false;
  std::string error_, code_;
  std::optional<RunResult> kept_;
  mutable std::optional<Record> values_;
};

}  // namespace attnlab
