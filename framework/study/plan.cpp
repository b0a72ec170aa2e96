#include "study/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "config/scalars.h"
#include "config/spec.h"
#include "train/build_model.h"

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
  for (const char* name :
       {"step", "epoch", "wall_seconds", "training_seconds", "target_tokens_per_second", "peak_memory_bytes"})
    facts.metrics.emplace_back(name);
  for (const TrivialBaseline& baseline : task.baselines) {
    std::string name = "baseline_" + baseline.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    facts.metrics.push_back(std::move(name));
  }
  for (const Example& example : task.train.examples)
    facts.tokens += static_cast<double>(example.target.size());
  return facts;
}

// Tokens that the run trains on, more or less.
double tokens_of(const ExperimentSpec& spec, const TaskFacts& facts) {
  const double epochs = static_cast<double>(spec.train.max_epochs) * facts.tokens;
  return spec.train.max_steps
             ? static_cast<double>(*spec.train.max_steps) * static_cast<double>(spec.train.batch_tokens)
             : epochs;
}

}  // namespace

Planner::Planner(const Study& study, std::filesystem::path root) : study_(study), root_(std::move(root)) {
  std::map<std::string, LoadedTask> tasks;  // by their YAML
  for (std::size_t arm = 0; arm < study_.arms.size(); ++arm) look_at(arm, tasks);
}

void Planner::look_at(std::size_t index, std::map<std::string, LoadedTask>& tasks) {
  const Arm& arm = study_.arms[index];
  const auto spec = experiment_of(arm.configuration(study_.spec.seeds.front(), {}));
  try {
    const std::string key = write_spec(spec->data);
    if (tasks.find(key) == tasks.end()) {
      LoadedTask loaded{spec->data.load(), {}};
      loaded.facts = facts_of(loaded.task);
      if (!study_.spec.controls.empty()) loaded.facts.baselines = baselines_of(loaded.task);
      tasks.emplace(key, std::move(loaded));
    }
    const Task& task = tasks.at(key).task;
    facts_.push_back(tasks.at(key).facts);
    if (spec->train.validation_scores && !task.valid.references.empty())
      for (const std::string& metric : task.metrics) facts_.back().metrics.push_back("valid_" + metric);
    check_fit(*spec, task);
    const auto built = build_model(*spec, vocabulary_of(task), choose_precision(spec->precision).type, true);
    for (const ProbeUse& use : study_.probes)
      if (const std::string reason = use.covers(arm.name) ? use.probe->refusal(spec->model) : "";
          !reason.empty())
        throw ConfigError(fmt::format("{}: error: 'study.probes.{}' on arm '{}': {}", use.position.text(),
                                      use.name, arm.name, reason));
    if (built->parameters.count(true) < built->parameters.count(false))
      facts_.back().metrics.emplace_back("frozen_unchanged");
    parameters_.push_back(static_cast<std::int64_t>(built->parameters.count(false)));
  } catch (const ConfigError& error) {
    if (std::string(error.what()).find(": error: ") != std::string::npos) throw;
    throw ConfigError(fmt::format("{}: error: arm '{}': {}", arm.position.text(), arm.name, error.what()));
  }
}

const std::vector<double>& Planner::rates(std::size_t arm) const {
  static const std::vector<double> kNone;
  if (study_.arms[arm].spec.untrained) return kNone;
  const std::vector<double>& own = study_.arms[arm].spec.rates;
  return own.empty() ? study_.spec.rates.values : own;
}

PlannedRun Planner::run(std::size_t arm, std::int64_t seed, std::optional<double> rate, bool trial) const {
  const Tree tree = study_.arms[arm].configuration(seed, rate);
  auto spec = experiment_of(tree);
  spec->name = study_.folder_name() + "/" + study_.arms[arm].name;
  PlannedRun run;
  run.arm = arm;
  run.seed = seed;
  run.rate = rate;
  run.trial = trial;
  run.folder = root_ / study_.folder_name() / study_.arms[arm].name;
  if (trial) run.folder /= "rate-" + short_number(*rate);
  run.folder /= "seed-" + std::to_string(seed);
  run.config = write_spec(*spec, tree);
  run.identity = identity_of(*spec, facts_[arm].hash);
  run.cost = tokens_of(*spec, facts_[arm]) * static_cast<double>(parameters_[arm]);
  return run;
}

}  // namespace attnlab
