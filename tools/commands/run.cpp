// attnlab run CONFIG…: one experiment, or a study of many where the file has a section `study:`.
#include "train/run.h"

#include <fmt/core.h>

#include "command.h"
#include "config/error.h"
#include "config/spec.h"
#include "modules.h"
#include "option_ranges.h"
#include "study/child.h"
#include "study/record_results.h"
#include "study/run_index.h"
#include "study/run_study.h"
#include "train/checkpoint_store.h"
#include "train/log.h"
#include "train/other_code.h"
#include "version.h"

namespace attnlab {
namespace {

struct Options {
  ConfigOptions config;
  std::string out, max_time, budget;
  bool resume = false, overwrite = false, dry_run = false;
  ProfileOptions profile;
  std::int64_t seed = -1;
  bool quick = false, reuse_stale = false;
  int jobs = 0;  // 0: not given
};

// Whether the run was broken off and goes on with --resume.
bool is_paused(const Record& result) {
  const std::string status = result.text("status");
  return status == "interrupted" || status == "out_of_time";
}

void print_result(const Record& result, const ExpectSpec& expect) {
  for (const auto& [name, value] : result.fields()) fmt::print("{:<32} {}\n", name, to_csv_field(value));
  if (is_paused(result))
    return fmt::print("paused at step {:.0f}{}\n", result.number("step"),
                      expect.score ? "; the expected score is judged when the run is done" : "");
  const auto* reached = result.find("expected_reached");
  if (reached == nullptr) return;
  fmt::print(
      "score {:.4g}; expected {:.4g}{}: {}\n", result.number("expected_got"), result.number("expected_score"),
      result.number("expected_within") > 0 ? fmt::format(" - {:.4g}", result.number("expected_within")) : "",
      std::get<bool>(*reached) ? "reached" : "NOT reached");
}

int run_as_study(const Options& options, const Tree& tree) {
  const bool single = !options.out.empty() || options.overwrite || options.profile.on ||
                      options.profile.rooflines || options.seed >= 0 || !options.max_time.empty();
  if (single)
    throw ConfigError(
        "--out, --overwrite, --profile, --max-time and --seed are for single experiments; a study goes on by "
        "itself, its time is --budget, and its seeds are --set study.seeds=[1,2]");
  const Study study = read_study(tree, options.quick);
  if (!options.quick && tree.where("study.quick"))
    read_study(tree, true);  // what is wrong with it is said now
  StudyOptions study_options;
  study_options.program = with_loaded_modules(own_program());
  study_options.jobs = std::max(1, options.jobs);
  study_options.reuse_stale = options.reuse_stale;
  if (!options.budget.empty())
    study_options.budget = static_cast<double>(parse_duration(options.budget).count());
  if (!options.quick)
    study_options.record =
        kept_record(experiment_folder("experiments", options.config.files.back()), study.spec.name);
  if (options.dry_run) {
    fmt::print("{}", preview_study(study, study_options));
    return 0;
  }
  const StudyOutcome outcome = run_study(study, study_options);
  fmt::print("{}", results_table(outcome.results));
  return outcome.exit_code;
}

// What the weights start from becomes a part of what the run is.
void note_start(const ExperimentSpec& spec, RunOptions& options) {
  const bool goes_on =
      options.mode == FolderMode::resume && last_checkpoint(options.folder / "checkpoints").has_value();
  try {
    if (const std::string start = starting_weights_of(spec, goes_on ? options.folder : ""); !start.empty())
      options.papers.environment.set("starting_weights", start);
  } catch (const IoError&) {  // the run itself says what is missing, if it needs it
  }
}

std::string listed(const std::vector<SpecDifference>& differences) {
  const auto said = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  std::string text;
  for (const auto& [path, before, now] : differences)
    text += (text.empty() ? "" : ", ") + path + ": " + said(before) + " -> " + said(now);
  return text;
}

// From what the run in the folder was begun with to what it would go on with.
std::vector<SpecDifference> differences_from(const std::filesystem::path& folder,
                                             const ExperimentSpec& spec) {
  try {
    return training_differences(spec, folder);
  } catch (const ConfigError&) {
    return {{"config.yaml", "(not readable by this program)", "(readable)"}};
  }
}

std::string listed_code(const Record& environment) {
  std::string text;
  for (const CodeDifference& difference : code_differences(environment))
    text += (text.empty() ? ": " : "; ") + difference.text;
  return text;
}

// A run that goes on under another configuration or other code is neither the old nor the new one, and stays
// so: its environment.json says that it is mixed. Throws ConfigError if it is finished, as another one.
void note_mixture(const ExperimentSpec& spec, RunOptions& options) {
  if (options.mode != FolderMode::resume) return;
  const RunFolder folder(options.folder, options.mode);
  const std::string name = options.folder.string();
  if (folder.finished()) {
    if (const auto differences = differences_from(options.folder, spec); !differences.empty())
      throw ConfigError("error: " + name + ": this run is finished, with another configuration (" +
                        listed(differences) + "); name another folder with --out, or say --overwrite");
    return;
  }
  // Without a checkpoint it begins anew, and weights that a study put there to be scored have no papers yet.
  if (!folder.has_checkpoint() || folder.resolved_config().empty()) return;
  const auto differences = differences_from(options.folder, spec);
  const Record before = folder.environment();
  const std::string here = program_digest(), there = before.text("code"), by = before.text("mixed_by");
  const bool other_code = there.find(here) == std::string::npos;
  if (!differences.empty())
    log_warning(name + " was begun with another configuration: " + listed(differences));
  if (other_code) log_warning(name + " was begun by other code than this program's" + listed_code(before));
  if (differences.empty() && !other_code && by.empty()) return;
  log_warning(name + " goes on as a mixed run, which no study takes for a pure one");
  Record& environment = options.papers.environment;
  environment.set("mixed", true);
  const bool by_code_alone = differences.empty() && (by.empty() || by == "code");
  environment.set("mixed_by", std::string(by_code_alone ? "code" : "configuration"));
  environment.set("code", other_code ? (there.empty() ? "unknown" : there) + " and " + here : there);
}

// What is to be typed to go on with a run that was broken off; --seed is among the assignments by then.
std::string command_to_go_on(const ConfigOptions& config, const std::filesystem::path& folder) {
  std::vector<std::string> words{"run"};
  words.insert(words.end(), config.files.begin(), config.files.end());
  for (const std::string& assignment : config.assignments) words.insert(words.end(), {"--set", assignment});
  words.insert(words.end(), {"--resume", "--out", folder.string()});
  return command_to_type(words);
}

int run(Options options) {
  if (options.resume && options.overwrite) throw ConfigError("--resume and --overwrite exclude each other");
  if (options.seed >= 0) options.config.assignments.push_back("seed=" + std::to_string(options.seed));
  const Tree tree = Tree::load(options.config.files, options.config.assignments);
  if (is_study(tree)) return run_as_study(options, tree);
  if (options.quick || options.reuse_stale || options.jobs > 0 || !options.budget.empty())
    throw ConfigError("--quick, --jobs, --budget and --reuse-stale are for studies; " +
                      options.config.files.back() + " has no section 'study'");
  const auto spec = std::make_unique<ExperimentSpec>();
  read_spec(tree, *spec);
  if (options.dry_run) {
    fmt::print("{}", dry_run(*spec));
    return 0;
  }
  RunOptions run_options;
  run_options.folder = options.out.empty() ? "runs/" + spec->name : options.out;
  if (options.resume) run_options.mode = FolderMode::resume;
  if (options.overwrite) run_options.mode = FolderMode::overwrite;
  if (!options.max_time.empty()) run_options.deadline = Deadline(parse_duration(options.max_time));
  run_options.profile = {options.profile.on || options.profile.rooflines, options.profile.rooflines};
  run_options.papers.config = write_spec(*spec, tree);
  for (const auto& file : tree.files()) run_options.papers.given.emplace_back(file);
  run_options.papers.assignments = options.config.assignments;
  run_options.papers.environment = {{"program", version_text()}, {"code", program_digest()}};
  note_start(*spec, run_options);
  note_mixture(*spec, run_options);
  const RunOutcome outcome = run_experiment(*spec, run_options);
  print_result(outcome.result, spec->expect);
  if (is_paused(outcome.result))
    log_info("saved; to go on: " + command_to_go_on(options.config, run_options.folder));
  if (options.out.empty() && outcome.exit_code == 0)  // so that studies find its weights
    if (const auto identity = identity_of_folder(run_options.folder))
      RunIndex("runs").remember(*identity, run_options.folder);
  return outcome.exit_code;
}

const Command command{
    "run", "train and score one experiment, or all arms of a study", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->config.declare(app, true);
      app.add_option("--out", options->out, "run folder; runs/NAME otherwise");
      app.add_flag("--resume", options->resume, "go on from the last checkpoint in the folder");
      app.add_flag("--overwrite", options->overwrite, "replace the run in the folder");
      app.add_option("--seed", options->seed, "instead of the configuration's");
      app.add_option("--max-time", options->max_time, "save and stop after this long, such as 10m or 1h30m");
      app.add_flag("--dry-run", options->dry_run,
                   "build, take one step, validate, save and load; print estimates");
      app.add_flag("--quick", options->quick, "of a study: its quick version");
      app.add_option("--jobs", options->jobs, "of a study: runs at a time; they share the threads")
          ->check(positive_whole());
      app.add_option("--budget", options->budget, "of a study: time it may take, such as 2h; cuts seeds");
      app.add_flag("--reuse-stale", options->reuse_stale, "of a study: take results that other code made");
      app.add_flag("--profile", options->profile.on,
                   "time and memory by op and module: a table, and trace.json");
      app.add_flag("--profile-rooflines", options->profile.rooflines,
                   "the same, and beside each product what the library reaches on it");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
