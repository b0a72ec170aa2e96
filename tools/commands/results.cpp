// attnlab results RUN|STUDY…: what finished runs and studies gave, for people and for further work.
#include <fmt/core.h>

#include <filesystem>

#include "command.h"
#include "config/closest.h"
#include "config/error.h"
#include "modules.h"
#include "study/results.h"
#include "study/study.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> names;
  std::string root = "runs";
  bool csv = false, json = false, latex = false, markdown = false;
};

// A file of results, a folder of a study or a run, or a name below runs/.
fs::path file_of(const std::string& name, const fs::path& root) {
  for (const fs::path& path : {fs::path(name), root / name}) {
    if (fs::is_regular_file(path)) return path;
    for (const char* file : {"study/results.json", "result.json"})
      if (fs::exists(path / file)) return path / file;
  }
  for (const fs::path& path : {fs::path(name), root / name})
    if (fs::exists(path / "config.yaml"))
      throw ConfigError(
          "error: " + path.string() +
          ": a run without result.json: it was broken off, goes on, or was written by attnlab prune; for its "
          "scores: " +
          command_to_type({"eval", path.string()}));
  throw ConfigError(
      fmt::format("error: {}: neither a run nor a study with results, nor a file of them, here or below {}",
                  name, root.string()));
}

// A single run is a study with one arm.
StudyResults results_in(const fs::path& file) {
  const std::string text = read_small_file(file);
  if (file.filename() != "result.json") return parse_results(text, file.string());
  StudyResults results;
  results.name = file.parent_path().filename().string();
  ArmResult arm;
  arm.name = results.baseline = arm.baseline = results.name;
  RunResult run;
  run.values = parse_record(text, file.string());
  if (const fs::path config = file.parent_path() / "config.yaml"; fs::exists(config))
    run.seed = experiment_of(Tree::load({config.string()}))->seed;
  run.folder = file.parent_path().string();
  if (const auto* status = run.values.find("status")) run.status = std::get<std::string>(*status);
  for (const auto& [name, value] : run.values.fields()) {
    if (std::holds_alternative<std::string>(value) || std::holds_alternative<bool>(value)) continue;
    if (results.metric.empty() && name.starts_with("test_")) results.metric = name;
    results.columns.push_back(name);
  }
  std::erase(results.columns, results.metric);
  if (results.metric.empty() && !results.columns.empty()) {
    results.metric = results.columns.front();
    results.columns.erase(results.columns.begin());
  }
  results.seeds = {run.seed};
  arm.runs.push_back(std::move(run));
  results.arms.push_back(std::move(arm));
  return results;
}

int results(const Options& options) {
  std::vector<StudyResults> all;
  for (const std::string& name : options.names) all.push_back(results_in(file_of(name, options.root)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.json && all.size() > 1) fmt::print("{}", i == 0 ? "[" : ",");
    fmt::print("{}{}", i > 0 && !options.json ? "\n" : "",
               options.csv        ? results_csv(all[i])
               : options.json     ? results_json(all[i])
               : options.latex    ? results_latex(all[i])
               : options.markdown ? results_markdown(all[i])
                                  : results_table(all[i]));
  }
  if (options.json && all.size() > 1) fmt::print("]\n");
  return 0;
}

const Command command{
    "results", "tables of runs and studies, as text, CSV, JSON, LaTeX or Markdown", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("names", options->names, "run folders, studies, or files of results")->required();
      app.add_option("--runs", options->root, "where names are looked for")->capture_default_str();
      auto* forms = app.add_option_group("form");
      forms->add_flag("--csv", options->csv, "one line a run, all values");
      forms->add_flag("--json", options->json, "everything");
      forms->add_flag("--latex", options->latex, "a tabular in booktabs style");
      forms->add_flag("--markdown", options->markdown, "tables as in experiments/");
      forms->require_option(0, 1);
      return [options] { return results(*options); };
    }};

}  // namespace
}  // namespace attnlab
