#include "study/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "core/error.h"
#include "study/statistics.h"
#include "train/durable_file.h"
#include "train/interrupt.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::optional<Speed> speed_of_results(const std::list<Job>& jobs) {
  double seconds = 0, cost = 0;
  for (const Job& job : jobs) {
    const fs::path file = job.run().folder / "result.json";
    if (job.state() != JobState::done || job.kept() || !job.run().trains || !fs::exists(file)) continue;
    const Record values = parse_record(read_small_file(file), file.string());
    if (values.find("training_seconds") == nullptr || values.find("wall_seconds") == nullptr) continue;
    seconds += std::max(values.number("training_seconds"), values.number("wall_seconds"));
    cost += job.run().cost;
  }
  if (cost <= 0) return std::nullopt;
  return Speed{seconds / cost, "the runs that are there"};
}

// The number before " s of training".
std::optional<double> seconds_in(const std::string& text) {
  const std::size_t end = text.rfind(" s of training");
  const std::size_t begin = end == std::string::npos ? end : text.rfind("about ", end);
  if (begin == std::string::npos) return std::nullopt;
  return std::atof(text.c_str() + begin + 6);
}

std::optional<Speed> speed_of_a_step(const Job& job, const JobOptions& options) {
  const fs::path log = options.papers / "dry_run.txt", config = options.papers / "dry_run.yaml";
  std::error_code ignored;
  fs::remove(log, ignored);
  write_durably(config, job.run().config);
  Child::Command command;
  command.arguments = options.program;
  for (const std::string& word : {std::string("run"), config.string(), std::string("--dry-run")})
    command.arguments.push_back(word);
  command.log = log;
  Child child(command);
  while (!child.ended()) {
    if (interrupt_signal() != 0) child.ask_to_end();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto seconds = *child.ended() == 0 ? seconds_in(read_small_file(log)) : std::nullopt;
  if (!seconds || job.run().cost <= 0) return std::nullopt;
  return Speed{*seconds / job.run().cost, "one step of training, without validation and scoring"};
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

AwaitedRuns awaited_runs(const std::list<Job>& jobs, const std::vector<std::optional<RateChoice>>& choices,
                         Index seeds) {
  AwaitedRuns awaited;
  for (std::size_t arm = 0; arm < choices.size(); ++arm) {
    const auto trial = std::find_if(
        jobs.begin(), jobs.end(), [arm](const Job& job) { return job.run().trial && job.run().arm == arm; });
    if (choices[arm] || trial == jobs.end()) continue;
    awaited.count += seeds;
    awaited.cost += trial->run().cost * static_cast<double>(seeds);
  }
  return awaited;
}

double cost_ahead(const std::list<Job>& jobs, const AwaitedRuns& awaited) {
  double cost = awaited.cost;
  for (const Job& job : jobs)
    if (job.state() == JobState::waiting) cost += job.run().cost;
  return cost;
}

std::optional<Speed> speed_of(const std::list<Job>& jobs, const JobOptions& options) {
  if (const auto known = speed_of_results(jobs)) return known;
  const Job* costliest = nullptr;
  const auto weight = [](const Job& job) { return std::pair(job.run().trains, job.run().cost); };
  for (const Job& job : jobs) {
    // Without an identity it starts from weights that are not there yet.
    if (job.state() != JobState::waiting || !job.run().identity) continue;
    if (costliest == nullptr || weight(*costliest) < weight(job)) costliest = &job;
  }
  return costliest == nullptr ? std::nullopt : speed_of_a_step(*costliest, options);
}

double seconds_left(const std::list<Job>& jobs, const AwaitedRuns& awaited) {
  double cost_done = 0, seconds = 0, cost_left = awaited.cost;
  for (const Job& job : jobs) {
    const double progress = job.progress();
    cost_left += job.run().cost * (1 - progress);
    if (job.found() || job.state() == JobState::waiting || job.state() == JobState::failed) continue;
    if (!job.run().trains) continue;
    cost_done += job.run().cost * progress;
    seconds += job.seconds();
  }
  return cost_done > 0 ? cost_left * seconds / cost_done : 0;
}

double usual_spread(const StudyResults& results, const std::vector<std::string>& controls) {
  std::vector<double> spreads;
  for (const ArmResult& arm : results.arms) {
    if (std::find(controls.begin(), controls.end(), arm.name) != controls.end()) continue;
    if (const ArmResult* base = results.find(arm.baseline); base != nullptr && base != &arm)
      if (const Comparison paired = compare(arm, *base, results.metric); paired.differences.size() > 1)
        spreads.push_back(paired.sd);
  }
  if (spreads.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::nth_element(spreads.begin(), spreads.begin() + std::ssize(spreads) / 2, spreads.end());
  return spreads[spreads.size() / 2];
}

std::string detectable_text(Index seeds, double sd, const std::string& metric) {
  if (seeds < 2) return "a single seed shows no spread: no difference can be told from chance";
  const double smallest_p = std::pow(0.5, static_cast<double>(seeds));
  const std::string sign = fmt::format("the sign test's smallest p is {:.3g}", smallest_p);
  if (std::isnan(sd) || sd == 0)
    return fmt::format(
        "{} seeds find differences of {:.1f} sd of the paired differences in 4 of 5 studies; {}", seeds,
        detectable_difference(1, seeds), sign);
  return fmt::format("{} seeds find differences of {:.3g} in {} in 4 of 5 studies; {}", seeds,
                     detectable_difference(sd, seeds), metric, sign);
}

}  // namespace attnlab
