#include "study/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <list>
#include <thread>

#include "core/parallel.h"
#include "study/announce.h"
#include "study/collect.h"
#include "study/cost.h"
#include "study/expectation_record.h"
#include "study/job.h"
#include "study/metric_check.h"
#include "study/sweep.h"
#include "train/durable_file.h"
#include "train/interrupt.h"
#include "train/log.h"
#include "train/run_lock.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

class StudyRunner {
 public:
  StudyRunner(const Study& study, const StudyOptions& options)
      : study_(study),
        options_(options),
        folder_(options.root / study.folder_name()),
        planner_(study, options.root),
        index_(options.root),
        record_({options.root / "expectations" / (study.folder_name() + ".json"), options.record},
                options.write_record ? 2 : 1),
        kept_(options.kept) {
    check_metrics(study, planner_);
    job_options_.program = options.program;
    job_options_.papers = folder_ / "study";
    job_options_.threads = options.jobs > 1 ? std::max(1, thread_count() / options.jobs) : 0;
    job_options_.reuse_stale = options.reuse_stale;
    choices_.resize(study.arms.size());
    seeds_ = study.spec.seeds;
  }

  std::string preview() {
    make_folder();
    const RunLock lock(job_options_.papers);
    const InterruptGuard guard;
    job_options_.look_only = true;
    plan();
    note_claims();
    announce(study_, planner_, std::ssize(seeds_), jobs_, awaited().count);
    estimate();
    std::string text;
    for (std::size_t arm = 0; arm < study_.arms.size(); ++arm)
      text += fmt::format("{:<32} {:>12} parameters\n", study_.arms[arm].name, planner_.parameters(arm));
    for (const Claim& claim : study_.claims)
      text += fmt::format("claim '{}': set {}\n", claim.name, record_.set(claim.hash));
    return text;
  }

  StudyOutcome run() {
    make_folder();
    const RunLock lock(job_options_.papers);
    const InterruptGuard guard;
    plan();
    note_claims();
    record_.write();
    announce(study_, planner_, std::ssize(seeds_), jobs_, awaited().count);
    if (options_.make_runs) {
      estimate();
      write_results();
      while (work()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    StudyOutcome outcome;
    outcome.results = results(interrupt_signal() == 0);
    outcome.exit_code = interrupt_signal() == 0 ? 0 : 128 + interrupt_signal();
    write_file(outcome.results);
    for (const std::string& text : unknown_probe_metrics(study_, outcome.results)) log_warning(text);
    return outcome;
  }

 private:
  void make_folder() const {
    std::error_code error;
    fs::create_directories(job_options_.papers, error);
    if (error) throw IoError("cannot create folder " + job_options_.papers.string() + ": " + error.message());
  }

  std::string metric() const {
    return study_.spec.metric.empty() ? planner_.facts(0).metrics.front() : study_.spec.metric;
  }

  void plan() {
    for (std::size_t i = 0; i < study_.preparations.size(); ++i) add(planner_.preparation(i));
    for (const std::int64_t seed : study_.spec.seeds)
      for (std::size_t arm = 0; arm < study_.arms.size(); ++arm)
        if (planner_.rates(arm).empty()) add(planner_.run(arm, seed, {}, false));
    for (std::size_t arm = 0; arm < study_.arms.size(); ++arm) {
      if (take_kept_choice(arm)) continue;
      for (const double rate : planner_.rates(arm))
        for (const std::int64_t seed : study_.spec.rates.seeds) add(planner_.run(arm, seed, rate, true));
    }
    for (std::size_t arm = 0; arm < study_.arms.size(); ++arm) choose(arm);
    jobs_.remove_if([this](const Job& job) { return !job.run().prepares.empty() && !is_awaited(job); });
  }

  // Where runs are kept that were made with a rate chosen among the same, it is not chosen again.
  bool take_kept_choice(std::size_t arm) {
    const RateChoice* choice = kept_.rate_of(study_.arms[arm], planner_.rates(arm), study_.spec.rates);
    if (choice == nullptr) return false;
    std::vector<PlannedRun> runs;
    for (const std::int64_t seed : seeds_) runs.push_back(planner_.run(arm, seed, choice->chosen, false));
    if (std::none_of(runs.begin(), runs.end(),
                     [this](const PlannedRun& run) { return kept_run(run) != nullptr; }))
      return false;
    choices_[arm] = *choice;
    for (PlannedRun& run : runs) add(std::move(run));
    return true;
  }

  // A preparation that is there belongs to the study in any case.
  bool is_awaited(const Job& preparation) const {
    return preparation.ended() || std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) {
             return !job.ended() && job.run().starts_from == preparation.run().prepares;
           });
  }

  // Says what is to come, and leaves out seeds that do not fit into the budget.
  void estimate() {
    if (count(JobState::waiting) == 0) return;
    const auto speed = speed_of(jobs_, job_options_);
    if (speed) {
      const auto seconds_ahead = [&] {
        return speed->seconds_per_cost * cost_ahead(jobs_, awaited()) / options_.jobs;
      };
      double seconds = seconds_ahead();
      log_info(fmt::format("about {} to come, from {}", duration_text(seconds), speed->from));
      while (options_.budget && seconds > *options_.budget && seeds_.size() > 1) {
        leave_out_last_seed();
        seconds = seconds_ahead();
      }
      if (seeds_.size() < study_.spec.seeds.size())
        log_warning(fmt::format("the budget of {} leaves {} of {} seeds, about {}",
                                duration_text(*options_.budget), seeds_.size(), study_.spec.seeds.size(),
                                duration_text(seconds)));
    }
    log_info(detectable_text(std::ssize(seeds_), usual_spread(results(), study_.spec.controls), metric()));
  }

  AwaitedRuns awaited() const { return awaited_runs(jobs_, choices_, std::ssize(seeds_)); }
  Index runs_in_all() const { return std::ssize(jobs_) + awaited().count; }

  // What is there of it stays.
  void leave_out_last_seed() {
    jobs_.remove_if([this](const Job& job) {
      return job.run().reported() && job.run().seed == seeds_.back() && job.state() == JobState::waiting;
    });
    seeds_.pop_back();
  }

  // Where the rates of an arm are still to be chosen, any result of it counts as one that is about to be
  // reported.
  void note_claims() {
    for (const Job& job : jobs_) note_result(job);
    record_.note(study_.claims, [this](const std::string& arm, const std::string& run) {
      bool known = false;
      for (const Job& job : jobs_) {
        if (!job.run().reported() || study_.arms[job.run().arm].name != arm) continue;
        if (job.kept() || !job.run().identity || job.run().identity->training.starts_with(run)) return true;
        known = true;
      }
      return !known;
    });
  }

  void note_result(const Job& job) {
    if (job.state() != JobState::done || !job.run().reported() || job.kept()) return;
    record_.saw(study_.arms[job.run().arm].name, job.run().seed, job.run().identity->training);
  }

  void add(PlannedRun run) {
    const RunResult* kept = run.reported() ? kept_run(run) : nullptr;
    if (run.arm != kNoArm && study_.arms[run.arm].kept_only && kept == nullptr) return;
    jobs_.emplace_back(std::move(run), job_options_);
    Job& job = jobs_.back();
    if (kept != nullptr) return job.take(*kept);
    if (const Job* first = preparation_of(job); first != nullptr && first->state() == JobState::done)
      job.identify(planner_);
    if (job.look(index_)) add_probes(job);
  }

  const RunResult* kept_run(const PlannedRun& run) const {
    return kept_.find(planner_, run, study_.arms[run.arm].name);
  }

  // The run whose weights it starts from, if there is one.
  const Job* preparation_of(const Job& job) const {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&job](const Job& other) {
      return !other.run().prepares.empty() && other.run().prepares == job.run().starts_from;
    });
    return found == jobs_.end() ? nullptr : &*found;
  }

  // Whether what it starts from is there. Where that will never be, the job ends.
  bool may_start(Job& job) {
    const Job* first = preparation_of(job);
    if (first == nullptr || job.run().identity) return true;
    if (!first->ended()) return false;
    if (first->state() == JobState::done)
      job.identify(planner_);
    else
      job.give_up(first->name() + ", which it starts from: " + first->error());
    if (job.state() == JobState::failed) take_in(job);
    return job.state() == JobState::waiting;
  }

  void add_probes(const Job& job) {
    if (job.state() != JobState::done || !job.run().reported() || job.kept()) return;
    for (const ProbeUse& use : study_.probes)
      if (use.covers(study_.arms[job.run().arm].name)) probes_.emplace_back(job, use, study_, job_options_);
  }

  // Once all trials of an arm have ended, its reported runs are planned with the best rate.
  void choose(std::size_t arm) {
    const std::vector<double>& rates = planner_.rates(arm);
    if (rates.empty() || choices_[arm] || study_.arms[arm].kept_only) return;
    std::vector<double> scores(rates.size(), 0);
    for (const Job& job : jobs_) {
      if (job.run().arm != arm || !job.run().trial) continue;
      if (!job.ended() || job.state() == JobState::stopped) return;
      const auto place =
          static_cast<std::size_t>(std::find(rates.begin(), rates.end(), *job.run().rate) - rates.begin());
      double score = std::numeric_limits<double>::quiet_NaN();
      if (job.state() == JobState::done) score = job.values().number(study_.spec.rates.choose_by);
      scores[place] += score / static_cast<double>(study_.spec.rates.seeds.size());
    }
    const bool higher = higher_is_better(study_.spec.rates.choose_by);
    choices_[arm] = choose_rate(rates, scores, higher, study_.spec.rates.within);
    choices_[arm]->seeds = study_.spec.rates.seeds;
    choices_[arm]->chosen_by = study_.spec.rates.choose_by;
    const RateChoice& choice = *choices_[arm];
    if (choice.chosen == 0) return log_warning(study_.arms[arm].name + ": no rate worked");
    log_info(fmt::format("{}: rate {:.3g}{}", study_.arms[arm].name, choice.chosen,
                         choice.at_edge ? ", at the edge of those tried" : ""));
    for (const std::int64_t seed : seeds_) add(planner_.run(arm, seed, choice.chosen, false));
  }

  Index count(JobState state) const {
    return std::count_if(jobs_.begin(), jobs_.end(),
                         [state](const Job& job) { return job.state() == state; });
  }

  // One round: takes in what ended, starts what may start. False when all is over.
  bool work() {
    const int signal = interrupt_signal();
    if (signal != 0 && !ending_) {
      ending_ = true;
      log_warning("ending: runs save their state");
      for (const Job& job : jobs_) job.ask_to_end();
      for (const ProbeJob& probe : probes_) probe.ask_to_end();
    }
    for (Job& job : jobs_)
      if (job.poll(index_)) take_in(job);
    for (ProbeJob& probe : probes_)
      if (probe.poll()) take_in(probe);
    if (!ending_) start_some();
    show();
    return at_work() > 0 || (!ending_ && (count(JobState::waiting) > 0 || probes_in(JobState::waiting) > 0));
  }

  Index probes_in(JobState state) const {
    return std::count_if(probes_.begin(), probes_.end(),
                         [state](const ProbeJob& probe) { return probe.state() == state; });
  }
  Index at_work() const { return count(JobState::running) + probes_in(JobState::running); }

  void take_in(const ProbeJob& probe) {
    if (probe.state() == JobState::done)
      log_info("probe " + probe.name());
    else
      log_warning("probe " + probe.error());
    write_results();
  }

  void take_in(const Job& job) {
    const auto done =
        std::count_if(jobs_.begin(), jobs_.end(), [](const Job& other) { return other.ended(); });
    std::string text = fmt::format("[{}/{}] {}: ", done, runs_in_all(), job.name());
    if (job.state() == JobState::done) {
      const Record& values = job.values();
      const std::string name = job.run().reported() ? metric() : study_.spec.rates.choose_by;
      if (values.find(name) != nullptr) text += fmt::format("{} {:.4g}, ", name, values.number(name));
      log_info(text + "in " + duration_text(job.seconds()) + remaining_text());
      if (job.stale())
        log_warning("the program was built anew while the study runs; this run is of other code");
    } else {
      log_warning(text + job.error());
    }
    note_result(job);
    record_.write();
    if (job.run().trial) choose(job.run().arm);
    add_probes(job);
    write_results();
  }

  void take_in_found(const Job& job) {
    note_result(job);
    if (job.run().trial) choose(job.run().arm);
    add_probes(job);
  }

  void start_some() {
    for (ProbeJob& probe : probes_)
      if (probe.state() == JobState::waiting && at_work() < options_.jobs) probe.start();
    for (Job& job : jobs_) {
      if (at_work() >= options_.jobs) return;
      if (job.state() != JobState::waiting || !may_start(job)) continue;
      // Weights that are being trained are not trained a second time.
      const bool in_work = std::any_of(jobs_.begin(), jobs_.end(), [&job](const Job& other) {
        return other.state() == JobState::running &&
               other.run().identity->training == job.run().identity->training;
      });
      if (in_work) continue;
      if (job.look(index_)) {
        take_in_found(job);
      } else {
        job.start(index_, jobs_);
        if (job.state() == JobState::failed) take_in(job);
      }
    }
  }

  std::string remaining_text() const {
    const double seconds = seconds_left(jobs_, awaited()) / options_.jobs;
    return seconds > 0 ? "; about " + duration_text(seconds) + " left" : "";
  }

  void show() {
    if (std::chrono::steady_clock::now() < next_look_) return;
    next_look_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    std::string names;
    Index done = 0;
    for (const Job& job : jobs_) {
      done += job.ended() ? 1 : 0;
      if (job.state() == JobState::running)
        names += fmt::format("{}{} {:.0f} %", names.empty() ? "" : ", ", job.name(), 100 * job.progress());
    }
    bar_.show(done, runs_in_all(), names + remaining_text());
  }

  StudyResults results(bool final = false) const {
    return collect_results(
        {study_, planner_, jobs_, probes_, choices_, seeds_, metric(), record_, kept_, final});
  }

  void write_results() const { write_file(results()); }
  void write_file(const StudyResults& results) const {
    write_durably(job_options_.papers / "results.json", results_json(results));
  }

  const Study& study_;
  const StudyOptions& options_;
  fs::path folder_;
  Planner planner_;
  RunIndex index_;
  ExpectationRecord record_;
  const KeptRuns& kept_;
  JobOptions job_options_;
  std::list<Job> jobs_;  // grows while references to its members live
  std::list<ProbeJob> probes_;
  std::vector<std::optional<RateChoice>> choices_;
  ProgressBar bar_;
  std::chrono::steady_clock::time_point next_look_;
  bool ending_ = false;
  std::vector<std::int64_t> seeds_;  // of which runs are to be made: those that fit into the budget
};

}  // namespace

std::string preview_study(const Study& study, const StudyOptions& options) {
  return StudyRunner(study, options).preview();
}

StudyOutcome run_study(const Study& study, const StudyOptions& options) {
  return StudyRunner(study, options).run();
}

}  // namespace attnlab
