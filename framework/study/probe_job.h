// One probe on one finished run, in a process of its own; found again when it has been made before.
#pragma once

#include <memory>

#include "study/job.h"
#include "study/probe_use.h"

namespace attnlab {

class ProbeJob {
 public:
  // `job` is done, and is not a trial.
  ProbeJob(const Job& job, const ProbeUse& use, const Study& study, const JobOptions& options);

  std::size_t arm() const { return arm_; }
  std::int64_t seed() const { return seed_; }
  const std::string& name() const { return name_; }  // "collapse of no_mlp seed 2"
  JobState state() const { return state_; }          // waiting, running, done, failed or stopped
  const std::string& error() const { return error_; }
  // NAME.number of what it found; empty unless it is done.
  const Record& numbers() const;

  void start();  // throws IoError
  bool poll();   // whether it has ended since the last call
  void ask_to_end() const;

 private:
  const ProbeUse& use_;
  const JobOptions& options_;
  std::size_t arm_;
  std::int64_t seed_;
  std::filesystem::path run_, folder_, log_;
  std::string name_, content_, error_;
  JobState state_ = JobState::waiting;
  mutable Record numbers_;  // read once it is done
  std::unique_ptr<Child> child_;
};

}  // namespace attnlab
