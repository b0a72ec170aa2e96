// attnlab run CONFIG…: one experiment.
#include "train/run.h"

#include <fmt/core.h>

#include "command.h"
#include "config/error.h"
#include "config/spec.h"
#include "version.h"

namespace attnlab {
namespace {

struct Options {
  ConfigOptions config;
  std::string out, max_time;
  bool resume = false, overwrite = false, dry_run = false;
  std::int64_t seed = -1;
};

void print_result(const Record& result) {
  for (const auto& [name, value] : result.fields()) fmt::print("{:<32} {}\n", name, to_csv_field(value));
  const auto* reached = result.find("expected_reached");
  if (reached == nullptr) return;
  fmt::print(
      "score {:.4g}; expected {:.4g}{}: {}\n", result.number("expected_got"), result.number("expected_score"),
      result.number("expected_within") > 0 ? fmt::format(" - {:.4g}", result.number("expected_within")) : "",
      std::get<bool>(*reached) ? "reached" : "NOT reached");
}

int run(Options options) {
  if (options.resume && options.overwrite) throw ConfigError("--resume and --overwrite exclude each other");
  if (options.seed >= 0) options.config.assignments.push_back("seed=" + std::to_string(options.seed));
  const Tree tree = Tree::load(options.config.files, options.config.assignments);
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
  run_options.papers.config = write_spec(*spec, tree);
  for (const auto& file : tree.files()) run_options.papers.given.emplace_back(file);
  run_options.papers.assignments = options.config.assignments;
  run_options.papers.environment = {{"program", version_text()}};
  const RunOutcome outcome = run_experiment(*spec, run_options);
  print_result(outcome.result);
  return outcome.exit_code;
}

const Command command{
    "run", "train and score one experiment", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->config.declare(app, true);
      app.add_option("--out", options->out, "run folder; runs/NAME otherwise");
      app.add_flag("--resume", options->resume, "go on from the last checkpoint in the folder");
      app.add_flag("--overwrite", options->overwrite, "replace the run in the folder");
      app.add_option("--seed", options->seed, "instead of the configuration's");
      app.add_option("--max-time", options->max_time, "save and stop after this long, such as 10m or 1h30m");
      app.add_flag("--dry-run", options->dry_run,
                   "build, take one step, validate, save and load; print estimates");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
