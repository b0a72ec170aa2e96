// The runs of a study: one for each arm and seed, and before them those that choose the arm's learning rate.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/task.h"
#include "study/baselines.h"
#include "study/identity.h"
#include "study/study.h"
#include "train/record.h"

namespace attnlab {

struct PlannedRun {
  std::size_t arm = 0;  // index into Study::arms
  std::int64_t seed = 1;
  std::optional<double> rate;  // set where the arm's rates are swept
  bool trial = false;          // only there to choose the rate
  std::filesystem::path folder;
  std::string config;  // resolved YAML
  RunIdentity identity;
  double cost = 1;  // relative time: parameters times tokens
};

// What is known of the task of an arm before anything runs.
struct TaskFacts {
  std::string hash;
  std::vector<std::string> metrics;  // names in results: "test_bleu", "valid_nll", …; the main one first
  double tokens = 0;                 // of one epoch, target side
  std::vector<Baseline> baselines;   // those that the study asks for
};

class Planner {
 public:
  // Loads each task once and builds each arm's model, so that what cannot run is said before anything does.
  // Throws ConfigError with the place of the arm, DataError.
  Planner(const Study& study, std::filesystem::path root);

  const TaskFacts& facts(std::size_t arm) const { return facts_[arm]; }
  // Weights of the arm's model, all and those that train.
  std::int64_t parameters(std::size_t arm) const { return parameters_[arm]; }
  PlannedRun run(std::size_t arm, std::int64_t seed, std::optional<double> rate, bool trial) const;
  // The rates that an arm tries; empty: that of its config.
  const std::vector<double>& rates(std::size_t arm) const;

 private:
  struct LoadedTask {
    Task task;
    TaskFacts facts;
  };
  void look_at(std::size_t arm, std::map<std::string, LoadedTask>& tasks);

  const Study& study_;
  std::filesystem::path root_;
  std::vector<TaskFacts> facts_;
  std::vector<std::int64_t> parameters_;
};

}  // namespace attnlab
