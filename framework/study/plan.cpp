#include "study/plan.h"

#include <fmt/format.h>

#include <cmath>

#include "config/error.h"
#include "config/scalars.h"
#include "config/spec.h"
#include "data/missing_file.h"
#include "data/sha256.h"
#include "train/build_model.h"
#include "train/run.h"

namespace attnlab {
namespace {

TaskFacts facts_of(const Task& task) {
  TaskFacts facts;
  facts.hash = content_hash(task);
  for (const NamedCorpus& test : task.tests)
    for (const std::string& metric : task.metrics) facts.metrics.push_back(test.name + "_" + metric);
  if (!task.valid.examples.empty()) {
    for (const char* name : {"loss", "nll", "perplexity", "accuracy"})
      facts.metrics.push_back(std::string("valid_") + name);
  }
  for (const char* name : {"step", "epoch", "wall_seconds", "training_seconds", "target_tokens_per_second",
                           "peak_memory_bytes", "trained_parameters"})
    facts.metrics.emplace_back(name);
  for (const TrivialBaseline& baseline : task.baselines) facts.metrics.push_back(column_of(baseline));
  for (const Example& example : task.train.examples) {
    facts.tokens += static_cast<double>(example.target_rows());
    facts.rows += static_cast<double>(example.target_rows() + example.source_rows());
  }
  return facts;
}

// Rows that the run trains on, more or less: batches are measured by their targets.
double rows_of(const ExperimentSpec& spec, const TaskFacts& facts) {
  if (!spec.train.max_steps) return static_cast<double>(spec.train.max_epochs) * facts.rows;
  const double rows_a_token = facts.tokens > 0 ? facts.rows / facts.tokens : 1;
  return static_cast<double>(*spec.train.max_steps) * static_cast<double>(spec.train.batch_tokens) *
         rows_a_token;
}

bool trains(const ExperimentSpec& spec) { return !spec.train.max_steps || *spec.train.max_steps > 1; }

// A ConfigError without a place gets that of what it is about.
[[noreturn]] void rethrow_at(const SourcePosition& position, const std::string& what,
                             const ConfigError& error) {
  if (std::string(error.what()).find(": error: ") != std::string::npos) throw error;
  throw ConfigError(fmt::format("{}: error: {}: {}", position.text(), what, error.what()));
}

void check_start(const std::string& from) {
  std::error_code error;
  if (from.empty() || !prepared_name(from).empty() || std::filesystem::exists(from, error)) return;
  throw MissingFileError("model.from: " + from + ": no such file or folder");
}

}  // namespace

Planner::Planner(const Study& study, std::filesystem::path root) : study_(study), root_(std::move(root)) {
  LoadedTasks tasks;
  for (const Preparation& preparation : study_.preparations) look_at_preparation(preparation, tasks);
  for (std::size_t arm = 0; arm < study_.arms.size(); ++arm) look_at(arm, tasks);
}

const Planner::LoadedTask& Planner::load(const ExperimentSpec& spec, LoadedTasks& tasks) const {
  const std::string key = write_spec(spec.data);
  if (const auto known = tasks.find(key); known != tasks.end()) return known->second;
  LoadedTask loaded{spec.data.load(), {}};
  loaded.facts = facts_of(loaded.task);
  if (!study_.spec.controls.empty()) loaded.facts.baselines = baselines_of(loaded.task);
  return tasks.emplace(key, std::move(loaded)).first->second;
}

void Planner::look_at_preparation(const Preparation& preparation, LoadedTasks& tasks) {
  const auto spec = experiment_of(preparation.tree);
  try {
    check_start(spec->model.from);
    const LoadedTask& loaded = load(*spec, tasks);
    prepared_facts_.push_back(loaded.facts);
    check_fit(*spec, loaded.task);
    const auto built = build_model(*spec, vocabulary_of(loaded.task), choose_precision(spec->precision).type,
                                   true, InitialValues::zero);
    prepared_parameters_.push_back(static_cast<std::int64_t>(built->parameters.count(false)));
  } catch (const ConfigError& error) {
    rethrow_at(preparation.position, "'study.prepare." + preparation.name + "'", error);
  }
}

void Planner::look_at(std::size_t index, LoadedTasks& tasks) {
  const Arm& arm = study_.arms[index];
  const auto spec = experiment_of(arm.configuration(study_.spec.seeds.front(), {}));
  try {
    check_start(spec->model.from);
    const LoadedTask& loaded = load(*spec, tasks);
    const Task& task = loaded.task;
    facts_.push_back(loaded.facts);
    if (spec->train.validation_scores && !task.valid.references.empty())
      for (const std::string& metric : task.metrics) facts_.back().metrics.push_back("valid_" + metric);
    check_fit(*spec, task);
    const auto built = build_model(*spec, vocabulary_of(task), choose_precision(spec->precision).type, true,
                                   InitialValues::zero);
    for (const ProbeUse& use : study_.probes)
      if (const std::string reason = use.refusal(arm.name, spec->model, *built->model); !reason.empty())
        throw ConfigError(fmt::format("{}: error: 'study.probes.{}' on arm '{}': {}", use.position.text(),
                                      use.name, arm.name, reason));
    if (built->parameters.count(true) < built->parameters.count(false))
      facts_.back().metrics.emplace_back("frozen_unchanged");
    if (spec->train.cache_features) facts_.back().metrics.emplace_back("feature_seconds");
    parameters_.push_back(static_cast<std::int64_t>(built->parameters.count(false)));
  } catch (const ConfigError& error) {
    rethrow_at(arm.position, "arm '" + arm.name + "'", error);
  }
}

const std::vector<double>& Planner::rates(std::size_t arm) const {
  static const std::vector<double> kNone;
  if (study_.arms[arm].spec.untrained) return kNone;
  const std::vector<double>&own = study_.arms[arm].spec.rates, &common = study_.spec.rates.values;
  return own.empty() || common.empty() ? common : own;  // empty: a quick version, say, sweeps none
}

PlannedRun Planner::run(std::size_t index, std::int64_t seed, std::optional<double> rate, bool trial) const {
  const Arm& arm = study_.arms[index];
  const Tree tree = arm.configuration(seed, rate);
  auto spec = experiment_of(tree);
  spec->name = study_.folder_name() + "/" + arm.name;
  if (!arm.starts_from.empty()) spec->model.from = folder_of_preparation(arm.starts_from).string();
  PlannedRun run;
  run.arm = index;
  run.name = run.file = arm.name;
  run.starts_from = arm.starts_from;
  run.seed = seed;
  run.rate = rate;
  run.trial = trial;
  run.folder = root_ / study_.folder_name() / arm.name;
  if (trial) {
    run.folder /= "rate-" + short_number(*rate);
    run.name += " rate " + short_number(*rate);
    run.file += ".rate-" + short_number(*rate);
  }
  run.name += fmt::format(" seed {}", seed);
  run.file += fmt::format(".seed-{}", seed);
  run.folder /= "seed-" + std::to_string(seed);
  run.config = write_spec(*spec, tree);
  run.precision = to_string(choose_precision(spec->precision).type);
  if (run.starts_from.empty())
    run.identity = identity_of(*spec, facts_[index].hash, run.precision, start_of(run, *spec, run.precision));
  if (run.reported()) run.content = content_of(run, *spec, run.precision);
  run.cost = rows_of(*spec, facts_[index]) * static_cast<double>(parameters_[index]);
  run.trains = trains(*spec);
  return run;
}

PlannedRun Planner::preparation(std::size_t index) const {
  const Preparation& preparation = study_.preparations[index];
  const auto spec = experiment_of(preparation.tree);
  PlannedRun run;
  run.prepares = preparation.name;
  run.name = "prepared:" + preparation.name;
  run.file = "prepared." + preparation.name;
  run.seed = spec->seed;
  run.folder = folder_of_preparation(preparation.name);
  run.config = write_spec(*spec, preparation.tree);
  run.identity = identity_of(*spec, prepared_facts_[index].hash);
  run.cost = rows_of(*spec, prepared_facts_[index]) * static_cast<double>(prepared_parameters_[index]);
  run.trains = trains(*spec);
  return run;
}

RunIdentity Planner::identity_of_run(const PlannedRun& run) const {
  const auto spec = experiment_of(Tree::parse(run.config, run.name));
  return identity_of(*spec, facts_[run.arm].hash);
}

std::string Planner::content_of(const PlannedRun& run, const std::string& precision) const {
  const auto spec = experiment_of(Tree::parse(run.config, run.name));
  if (spec->precision != Precision::automatic && run.precision != precision) return "";
  return content_of(run, *spec, precision);
}

std::string Planner::content_of(const PlannedRun& run, const ExperimentSpec& spec,
                                const std::string& precision) const {
  Sha256 hash;
  hash.add_field(identity_of(spec, facts_[run.arm].hash, precision, start_of(run, spec, precision)).scoring);
  for (const ProbeUse& use : study_.probes)
    if (use.covers(study_.arms[run.arm].name)) hash.add_field(use.key());
  return hash.hex();
}

// The weights that a run starts from: those of its preparation by what that is, others by what they are.
std::string Planner::start_of(const PlannedRun& run, const ExperimentSpec& spec,
                              const std::string& precision) const {
  for (std::size_t i = 0; i < study_.preparations.size(); ++i) {
    if (study_.preparations[i].name != run.starts_from) continue;
    const auto first = experiment_of(study_.preparations[i].tree);
    return "run " + identity_of(*first, prepared_facts_[i].hash, precision, known_start(*first)).training;
  }
  return known_start(spec);
}

// Published weights are large; they are read once for all runs.
const std::string& Planner::known_start(const ExperimentSpec& spec) const {
  const auto known = starts_.find(spec.model.from);
  return known != starts_.end() ? known->second
                                : starts_.emplace(spec.model.from, starting_weights_of(spec)).first->second;
}

std::filesystem::path Planner::folder_of_preparation(const std::string& name) const {
  return root_ / study_.folder_name() / "prepared" / name;
}

}  // namespace attnlab
