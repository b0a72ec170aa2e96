// attnlab reproduce [STUDY…]: runs studies one after the other, goes on where it was stopped, and prints a
// board of all verdicts.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "command.h"
#include "config/closest.h"
#include "config/error.h"
#include "core/error.h"
#include "modules.h"
#include "study/job.h"
#include "study/record_results.h"
#include "study/run_study.h"
#include "train/interrupt.h"
#include "train/log.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> studies, assignments;
  std::string configs = "configs", experiments = "experiments", budget;
  bool quick = false, reuse_stale = false, no_report = false;
  int jobs = 1;
};

struct Found {
  std::string file, name;
};

// All files below `configs` with a section `study:`, in path order.
std::vector<Found> studies_below(const fs::path& configs, bool quick) {
  std::vector<Found> found;
  if (!fs::is_directory(configs)) throw ConfigError("error: no folder " + configs.string());
  for (const auto& entry : fs::recursive_directory_iterator(configs)) {
    if (entry.path().extension() != ".yaml") continue;
    const Tree tree = Tree::load({entry.path().string()});
    if (!is_study(tree) || (quick && !tree.where("study.quick"))) continue;
    found.push_back({entry.path().string(), entry.path().stem().string()});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.file < b.file; });
  return found;
}

// Those asked for: a file, the folder of one below configs/ such as "transformer", or its path without
// ending.
std::vector<Found> chosen(const Options& options) {
  const std::vector<Found> all = studies_below(options.configs, options.quick);
  if (options.studies.empty()) return all;
  std::vector<Found> result;
  for (const std::string& wanted : options.studies) {
    if (fs::is_regular_file(wanted)) {
      result.push_back({wanted, fs::path(wanted).stem().string()});
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
    log_warning("no report: " + reason_in(log));
}

int reproduce(const Options& options) {
  StudyOptions study_options;
  study_options.program.push_back(own_program());
  for (const auto& module : loaded_modules())
    study_options.program.insert(study_options.program.end(), {"--load", module});
  study_options.jobs = options.jobs;
  study_options.reuse_stale = options.reuse_stale;
  if (!options.budget.empty())
    study_options.budget = static_cast<double>(parse_duration(options.budget).count());
  const std::vector<Found> files = chosen(options);
  // What is wrong with any file is said before the first one runs.
  std::vector<Study> studies;
  for (const Found& one : files)
    studies.push_back(read_study(Tree::load({one.file}, options.assignments), options.quick));
  std::vector<StudyResults> all;
  std::vector<fs::path> folders;
  int worst = 0;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    try {
      const StudyOutcome outcome = run_study(studies[i], study_options);
      all.push_back(outcome.results);
      folders.push_back(study_options.root / studies[i].folder_name());
      fmt::print("{}\n", results_table(outcome.results));
      std::fflush(stdout);
      if (outcome.exit_code != 0) return outcome.exit_code;
      if (!options.quick)
        record_results(outcome.results, experiment_folder(options.experiments, files[i].file), files[i].file);
    } catch (const Error& error) {
      log_warning(fmt::format("{}: {}", files[i].file, error.what()));
      worst = std::max(worst, error.exit_code());
    } catch (const ConfigError& error) {
      log_warning(fmt::format("{}: {}", files[i].file, error.what()));
      worst = std::max(worst, 2);
    }
  }
  std::vector<ClaimVerdict*> verdicts;
  for (StudyResults& results : all)
    for (ClaimVerdict& verdict : results.verdicts) verdicts.push_back(&verdict);
  correct_together(verdicts);
  std::vector<ClaimVerdict> board;
  for (StudyResults& results : all)
    for (ClaimVerdict verdict : results.verdicts) {
      verdict.claim = results.name + ": " + verdict.claim;
      board.push_back(std::move(verdict));
    }
  fmt::print("{}", verdict_board(board));
  std::fflush(stdout);
  if (!options.no_report && !folders.empty())
    write_report(study_options, folders, (study_options.root / "report.html").string());
  return worst;
}

const Command command{
    "reproduce", "run studies, go on where they were stopped, print a board of verdicts", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("studies", options->studies, "files or names below configs/; all otherwise");
      app.add_flag("--quick", options->quick, "their quick versions, in minutes");
      app.add_option("--jobs", options->jobs, "runs at a time; they share the threads")
          ->check(CLI::PositiveNumber);
      app.add_option("--budget", options->budget, "time for each study, such as 2h; cuts seeds");
      app.add_flag("--reuse-stale", options->reuse_stale, "take results that other code made");
      app.add_flag("--no-report", options->no_report, "leave out the page runs/report.html");
      app.add_option("--set", options->assignments, "a.b=value on top of every file")
          ->allow_extra_args(false)
          ->take_all();
      app.add_option("--configs", options->configs, "where studies are looked for")->capture_default_str();
      app.add_option("--experiments", options->experiments,
                     "where results are kept; those of --quick are not")
          ->capture_default_str();
      return [options] { return reproduce(*options); };
    }};

}  // namespace
}  // namespace attnlab
