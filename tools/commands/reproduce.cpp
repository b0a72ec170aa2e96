// attnlab reproduce [STUDY…]: runs studies one after the other, goes on where it was stopped, and prints a
// board of all verdicts. Without names, those whose data are missing are left out, and it says so.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "command.h"
#include "config/closest.h"
#include "config/error.h"
#include "core/error.h"
#include "data/missing_file.h"
#include "modules.h"
#include "option_ranges.h"
#include "study/board.h"
#include "study/child.h"
#include "study/record_results.h"
#include "study/run_study.h"
#include "train/durable_file.h"
#include "train/interrupt.h"
#include "train/log.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> studies, assignments;
  std::string configs = "configs", experiments = "experiments", budget;
  bool quick = false, reuse_stale = false, accumulate = false, judge = false, no_report = false;
  int jobs = 1;
};

struct Found {
  std::string file;
  bool quick = true;  // it has a quick version
};

// All files below `configs` with a section `study:`, in path order.
std::vector<Found> studies_below(const fs::path& configs) {
  std::vector<Found> found;
  if (!fs::is_directory(configs)) throw ConfigError("error: no folder " + configs.string());
  for (const auto& entry : fs::recursive_directory_iterator(configs)) {
    if (entry.path().extension() != ".yaml") continue;
    const Tree tree = Tree::load({entry.path().string()});
    if (is_study(tree)) found.push_back({entry.path().string(), tree.where("study.quick").has_value()});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.file < b.file; });
  return found;
}

// Those asked for: a file, the folder of one below configs/ such as "transformer", or its path without
// ending.
std::vector<Found> chosen(const Options& options) {
  const auto is_file = [](const std::string& name) { return fs::is_regular_file(name); };
  const bool by_name =
      options.studies.empty() || !std::all_of(options.studies.begin(), options.studies.end(), is_file);
  std::vector<Found> all = by_name ? studies_below(options.configs) : std::vector<Found>{};
  if (options.studies.empty()) return all;
  if (options.quick) std::erase_if(all, [](const Found& one) { return !one.quick; });
  std::vector<Found> result;
  for (const std::string& wanted : options.studies) {
    if (is_file(wanted)) {
      result.push_back({wanted});
      continue;
    }
    const std::size_t before = result.size();
    std::vector<std::string> known;
    for (const Found& one : all) {
      const std::string path = fs::relative(one.file, options.configs).replace_extension().generic_string();
      known.push_back(path);
      if (path == wanted || path.starts_with(wanted + "/")) result.push_back(one);
    }
    if (result.size() == before)
      throw ConfigError(fmt::format("error: no study '{}'{}; there are: {}", wanted,
                                    options.quick ? " with a quick version" : "", join_names(known)));
  }
  return result;
}

// One page about all of them; says where, or why there is none.
void write_report(const StudyOptions& options, const std::vector<fs::path>& studies, const std::string& out) {
  const fs::path log = options.root / "reproduce.txt";
  std::error_code ignored;
  fs::remove(log, ignored);
  Child::Command command;
  command.arguments = options.program;
  command.arguments.emplace_back("report");
  for (const fs::path& study : studies) command.arguments.push_back(study.string());
  command.arguments.insert(command.arguments.end(), {"--out", out});
  command.log = log;
  Child child(command);
  while (!child.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (*child.ended() == 0)
    log_info("report: " + out);
  else
    log_warning("no report: " + child.reason());
}

StudyOptions options_of(const Options& options) {
  StudyOptions result;
  result.program = with_loaded_modules(own_program());
  result.jobs = options.jobs;
  result.reuse_stale = options.reuse_stale;
  result.make_runs = !options.judge;
  if (!options.budget.empty()) result.budget = static_cast<double>(parse_duration(options.budget).count());
  return result;
}

class Reproduction {
 public:
  explicit Reproduction(const Options& options) : options_(options), study_options_(options_of(options)) {}

  int run() {
    const std::vector<Found> files = chosen(options_);
    // What is wrong with any file is said before the first one runs.
    std::vector<std::pair<std::string, Study>> studies;
    for (const Found& one : files)
      if (options_.quick && !one.quick)
        skipped_.push_back(one.file + ": it has no quick version");
      else
        studies.emplace_back(one.file, read(one.file, {}));
    for (auto& [file, study] : studies)
      if (const int code = run_one(file, std::move(study)); code != 0) return code;
    fmt::print("{}", verdict_board(board_of(all_)));
    for (const std::string& reason : skipped_) fmt::print("skipped: {}\n", reason);
    std::fflush(stdout);
    if (!options_.no_report && !folders_.empty())
      write_report(study_options_, folders_, (study_options_.root / "report.html").string());
    return worst_;
  }

 private:
  // With the arms of `kept`: those that are left out this time are not lost to the others.
  Study read(const std::string& file, const StudyResults& kept) const {
    std::vector<std::string> arms;
    for (const ArmResult& arm : kept.arms) arms.push_back(arm.name);
    return read_study(Tree::load({file}, options_.assignments), options_.quick, arms);
  }

  // An exit code other than 0 ends all.
  int run_one(const std::string& file, Study study) {
    const fs::path kept = experiment_folder(options_.experiments, file);
    StudyOptions options = study_options_;
    if (!options_.quick) options.record = kept_record(kept, study.spec.name), options.write_record = true;
    try {
      if (options_.accumulate) {
        const StudyResults before = kept_results(kept, study.spec.name);
        study = read(file, before);
        options.kept = KeptRuns(before);
      }
      const StudyOutcome outcome = run_study(study, options);
      all_.push_back({outcome.results, ""});
      folders_.push_back(options.root / study.folder_name());
      fmt::print("{}\n", results_table(outcome.results));
      std::fflush(stdout);
      if (!options_.quick) keep(file, outcome, kept);
      return outcome.exit_code;
    } catch (const MissingFileError& error) {
      if (!options_.studies.empty()) return failed(file, error.what(), error.exit_code());
      skipped_.push_back(file + ": " + error.what());
      log_warning("SKIPPED " + skipped_.back());
    } catch (const Error& error) {
      failed(file, error.what(), error.exit_code());
    } catch (const ConfigError& error) {
      failed(file, error.what(), 2);
    } catch (const fs::filesystem_error& error) {  // the other studies go on
      failed(file, error.what(), 1);
    }
    return 0;
  }

  // Results accumulate: what there is when a study is stopped is kept, and what is kept is not lost to a run
  // that was asked for less, or failed.
  void keep(const std::string& file, const StudyOutcome& outcome, const fs::path& kept) const {
    if (!worth_keeping(outcome.results, end_of(outcome), kept_results(kept, outcome.results.name)))
      return log_info(fmt::format("{}: the results in {} stay, which hold as much or what these lack",
                                  outcome.results.name, (kept / "results").string()));
    record_results(outcome.results, kept, file);
    log_info(fmt::format("{}: results kept in {} and {}", outcome.results.name, (kept / "results").string(),
                         (kept / "README.md").string()));
    record_board(options_.experiments);
  }

  StudyEnd end_of(const StudyOutcome& outcome) const {
    if (outcome.exit_code != 0) return StudyEnd::interrupted;
    bool complete = !options_.judge && options_.assignments.empty() && options_.budget.empty();
    for (const ArmResult& arm : outcome.results.arms)
      for (const RunResult& run : arm.runs)
        complete = complete && (run.status == "diverged" || (run.error.empty() && run.status != "missing"));
    return complete ? StudyEnd::complete : StudyEnd::partial;
  }

  int failed(const std::string& file, const std::string& reason, int code) {
    log_warning(file + ": " + reason);
    worst_ = std::max(worst_, code);
    return 0;
  }

  const Options& options_;
  StudyOptions study_options_;
  std::vector<BoardEntry> all_;
  std::vector<fs::path> folders_;
  std::vector<std::string> skipped_;
  int worst_ = 0;
};

const Command command{
    "reproduce", "run studies, go on where they were stopped, print a board of verdicts", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("studies", options->studies, "files or names below configs/; all otherwise");
      CLI::Option* quick = app.add_flag("--quick", options->quick, "their quick versions, in minutes");
      app.add_option("--jobs", options->jobs, "runs at a time; they share the threads")
          ->check(positive_whole());
      app.add_option("--budget", options->budget, "time for each study, such as 2h; cuts seeds");
      app.add_flag("--reuse-stale", options->reuse_stale, "take results that other code made");
      app.add_flag("--accumulate", options->accumulate,
                   "take runs that the kept results hold, of whatever machine, precision and code, as made")
          ->excludes(quick);
      app.add_flag("--judge", options->judge,
                   "make no run: judge again what is there, and with --accumulate what is kept");
      app.add_flag("--no-report", options->no_report, "leave out the page runs/report.html");
      app.add_option("--set", options->assignments, "a.b=value on top of every file")
          ->allow_extra_args(false)
          ->take_all();
      app.add_option("--configs", options->configs, "where studies are looked for")->capture_default_str();
      app.add_option("--experiments", options->experiments,
                     "where results are kept; those of --quick are not")
          ->capture_default_str();
      return [options] { return Reproduction(*options).run(); };
    }};

}  // namespace
}  // namespace attnlab
