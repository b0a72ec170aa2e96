// The runs of a study: one for each arm and seed, before them those that choose the arm's learning rate, and
// first of all those that arms start from.
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

inline constexpr std::size_t kNoArm = static_cast<std::size_t>(-1);

struct PlannedRun {
  std::size_t arm = kNoArm;  // index into Study::arms; none for a preparation
  std::string name;          // for people: "no_mlp seed 2"
  std::string file;          // stem of its papers: "no_mlp.seed-2"
  std::string prepares;      // name of the preparation that it is
  std::string starts_from;   // name of the preparation whose weights it takes
  std::int64_t seed = 1;
  std::optional<double> rate;  // set where the arm's rates are swept
  bool trial = false;          // only there to choose the rate
  std::filesystem::path folder;
  std::string config;  // resolved YAML
  // What it is by content; unknown until what it starts from is there.
  std::optional<RunIdentity> identity;
  std::string precision;  // that it computes in here: "f32", "bf16", "f64"
  std::string content;    // Planner::content_of in that precision; empty for trials and preparations
  double cost = 1;        // relative time: parameters times rows
  bool trains = true;     // takes more than one step; the time of a run of one says nothing of that of others

  bool reported() const { return !trial && prepares.empty(); }
};

// What is known of the task of an arm before anything runs.
struct TaskFacts {
  std::string hash;
  std::vector<std::string> metrics;  // names in results: "test_bleu", "valid_nll", …; the main one first
  double tokens = 0, rows = 0;       // of one epoch: those to predict, and those together with the source's
  std::vector<Baseline> baselines;   // those that the study asks for
};

class Planner {
 public:
  // Loads each task once and builds each arm's model, so that what cannot run is said before anything does.
  // Throws ConfigError with the place of the arm, DataError (MissingFileError for data or weights not there).
  Planner(const Study& study, std::filesystem::path root);

  const TaskFacts& facts(std::size_t arm) const { return facts_[arm]; }
  // Weights of the arm's model, all and those that train.
  std::int64_t parameters(std::size_t arm) const { return parameters_[arm]; }
  PlannedRun run(std::size_t arm, std::int64_t seed, std::optional<double> rate, bool trial) const;
  PlannedRun preparation(std::size_t index) const;  // of Study::preparations
  // The identity of a run whose preparation has ended. Throws IoError if its weights cannot be read.
  RunIdentity identity_of_run(const PlannedRun& run) const;
  // What a reported run and its probes would be by content on a machine that computes in `precision`; what it
  // starts from need not be there. Empty where its configuration demands another precision.
  std::string content_of(const PlannedRun& run, const std::string& precision) const;
  // The rates that an arm tries; empty: that of its config.
  const std::vector<double>& rates(std::size_t arm) const;

 private:
  struct LoadedTask {
    Task task;
    TaskFacts facts;
  };
  using LoadedTasks = std::map<std::string, LoadedTask>;  // by their YAML
  const LoadedTask& load(const ExperimentSpec& spec, LoadedTasks& tasks) const;
  void look_at(std::size_t arm, LoadedTasks& tasks);
  void look_at_preparation(const Preparation& preparation, LoadedTasks& tasks);
  std::string content_of(const PlannedRun& run, const ExperimentSpec& spec,
                         const std::string& precision) const;
  std::string start_of(const PlannedRun& run, const ExperimentSpec& spec, const std::string& precision) const;
  const std::string& known_start(const ExperimentSpec& spec) const;
  std::filesystem::path folder_of_preparation(const std::string& name) const;

  const Study& study_;
  std::filesystem::path root_;
  std::vector<TaskFacts> facts_, prepared_facts_;
  std::vector<std::int64_t> parameters_, prepared_parameters_;
  mutable std::map<std::string, std::string> starts_;
};

}  // namespace attnlab
