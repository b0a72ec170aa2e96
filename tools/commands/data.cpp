// attnlab data check CONFIG: what is wrong with the corpora. attnlab data get NAME: fetches a known data set.
#include <fmt/core.h>

#include "command.h"
#include "config/error.h"
#include "config/registry.h"
#include "config/spec.h"
#include "data/fetch.h"
#include "train/experiment_spec.h"

namespace attnlab {
namespace {

int check(const ConfigOptions& options) {
  ExperimentSpec spec;
  Tree tree = Tree::load(options.files, options.assignments);
  tree.take("study");  // all arms of a study mostly share one task
  read_spec(tree, spec);
  const DoctorReport report = spec.data.examine();
  fmt::print("{}", report.text());
  return report.errors > 0 ? 3 : 0;
}

std::string known_names() {
  std::string names;
  for (const auto& kind : Registry<DataSet>::list()) names += (names.empty() ? "" : ", ") + kind.name;
  return names;
}

int get(const std::string& name, FetchOptions options) {
  if (name.empty()) throw ConfigError("error: data get: a name is missing; known are " + known_names());
  options.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  fmt::print("{}\n", fetch_data_set(name, options).string());
  return 0;
}

const Command command{
    "data", "check corpora, fetch known data sets", [](CLI::App& app) {
      auto options = std::make_shared<ConfigOptions>();
      auto name = std::make_shared<std::string>();
      auto fetch = std::make_shared<FetchOptions>();
      auto chosen = std::make_shared<std::function<int()>>();
      app.require_subcommand(1);
      CLI::App* checking = app.add_subcommand("check", "look through the files of a configuration's task");
      options->declare(*checking, true);
      checking->callback([=] { *chosen = [=] { return check(*options); }; });
      CLI::App* getting = app.add_subcommand("get", "fetch a data set (attnlab list data_set)");
      getting->add_option("name", *name, known_names());
      getting->add_option("--from", fetch->from, "copy from this folder instead of downloading");
      getting->add_option("--root", fetch->root, "folder of data sets")->capture_default_str();
      getting->callback([=] { *chosen = [=] { return get(*name, *fetch); }; });
      return [chosen] { return (*chosen)(); };
    }};

}  // namespace
}  // namespace attnlab
