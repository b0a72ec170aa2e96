#include "study/collect.h"

#include <algorithm>

#include "train/durable_file.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// What of a run's environment belongs to its results.
Record environment_in(const fs::path& folder) {
  const fs::path file = folder / "environment.json";
  Record kept;
  if (!fs::exists(file)) return kept;
  const Record all = parse_record(read_small_file(file), file.string());
  for (const char* name :
       {"program", "cpu", "isa", "native_bf16", "processors", "threads", "compiler", "onednn"})
    if (const RecordValue* value = all.find(name)) kept.set(name, *value);
  return kept;
}

RunResult run_result(const Job& job) {
  if (const RunResult* kept = job.kept()) return *kept;
  RunResult run;
  run.seed = job.run().seed;
  run.folder = job.run().folder.string();
  run.error = job.error();
  run.stale = job.stale();
  run.status = job.state() == JobState::failed ? "failed" : "missing";
  if (job.state() == JobState::done || job.state() == JobState::diverged) {
    run.values = job.values();
    if (const auto* status = run.values.find("status")) run.status = std::get<std::string>(*status);
    run.code = job.code();
    run.precision = job.run().precision;
    run.cpu = environment_in(job.run().folder).text("cpu");
    run.content = job.run().content;
  }
  return run;
}

void add_probes(const StudyState& state, std::size_t arm, RunResult& run) {
  for (const ProbeJob& probe : state.probes) {
    if (probe.arm() != arm || probe.seed() != run.seed) continue;
    run.values.append(probe.numbers());
    if (!probe.error().empty()) run.error += (run.error.empty() ? "" : "; ") + probe.error();
  }
}

ArmResult arm_result(const StudyState& state, std::size_t index) {
  const Arm& arm = state.study.arms[index];
  ArmResult result;
  result.name = arm.name;
  result.note = arm.spec.note;
  result.baseline = arm.baseline;
  result.control = arm.spec.control;
  result.published = arm.published;
  result.parameters = state.planner.parameters(index);
  result.rate = state.choices[index];
  for (const AxisValue& value : arm.point) result.point.emplace_back(value.key, value.text);
  for (const Job& job : state.jobs) {
    if (job.run().arm != index || !job.run().reported()) continue;
    result.runs.push_back(run_result(job));
    add_probes(state, index, result.runs.back());
  }
  return result;
}

// Those of which runs are made, and those of which there is something all the same.
std::vector<std::int64_t> seeds_shown(const StudyState& state) {
  std::vector<std::int64_t> shown;
  for (const std::int64_t seed : state.study.spec.seeds) {
    const bool runs = std::find(state.seeds.begin(), state.seeds.end(), seed) != state.seeds.end();
    const bool there = std::any_of(state.jobs.begin(), state.jobs.end(), [seed](const Job& job) {
      return job.run().reported() && job.run().seed == seed;
    });
    if (runs || there) shown.push_back(seed);
  }
  return shown;
}

// A control has no seed; it stands beside each, so that it can be compared with.
void add_controls(const StudyState& state, StudyResults& results) {
  const auto& wanted = state.study.spec.controls;
  for (const Baseline& baseline : state.planner.facts(0).baselines) {
    if (std::find(wanted.begin(), wanted.end(), baseline.name) == wanted.end()) continue;
    ArmResult arm;
    arm.name = baseline.name;
    arm.note = baseline.note + ", computed from the data";
    arm.baseline = state.study.spec.baseline;
    arm.control = true;
    for (const std::int64_t seed : results.seeds) {
      RunResult run;
      run.seed = seed;
      run.status = "done";
      run.values = baseline.values;
      arm.runs.push_back(std::move(run));
    }
    results.arms.push_back(std::move(arm));
  }
}

}  // namespace

StudyResults collect_results(const StudyState& state) {
  const StudySpec& spec = state.study.spec;
  StudyResults results;
  results.name = spec.name;
  results.question = spec.question;
  results.source = spec.source;
  results.metric = state.metric;
  results.baseline = spec.baseline;
  results.columns = spec.columns;
  results.quick = state.study.quick;
  results.seeds = seeds_shown(state);
  for (std::size_t arm = 0; arm < state.study.arms.size(); ++arm) {
    ArmResult result = arm_result(state, arm);
    if (!result.runs.empty() || !state.study.arms[arm].kept_only) results.arms.push_back(std::move(result));
  }
  add_controls(state, results);
  for (const Job& job : state.jobs)
    if (job.state() == JobState::done && job.kept() == nullptr && results.environment.fields().empty())
      results.environment = environment_in(job.run().folder);
  if (results.environment.fields().empty()) results.environment = state.kept.environment();
  results.expectations_hash = hash_of_all(state.study.claims);
  results.verdicts = judge(state.study.claims, results, state.final);
  for (ClaimVerdict& verdict : results.verdicts) verdict.set = state.record.set(verdict.hash);
  return results;
}

}  // namespace attnlab
