// attnlab config check|show|diff|schema: what a configuration says, whether it is right, and what could be
// said.
#include <fmt/core.h>

#include <filesystem>

#include "command.h"
#include "config/error.h"
#include "config/schema.h"
#include "config/spec.h"
#include "study/study.h"
#include "study/study_schema.h"

namespace attnlab {
namespace {

// The experiment of a file; of a study, that which its arms share.
std::unique_ptr<ExperimentSpec> read(Tree tree) {
  tree.take("study");
  return experiment_of(tree);
}

int check(const ConfigOptions& options) {
  const Tree tree = Tree::load(options.files, options.assignments);
  if (is_study(tree)) {
    const std::size_t arms = read_study(tree, false).arms.size();
    if (tree.where("study.quick")) read_study(tree, true);
    fmt::print("{}: no problems in its keys; a study of {} arms (data, models and metrics: run --dry-run)\n",
               options.files.back(), arms);
    return 0;
  }
  read(tree);
  fmt::print("{}: no problems in its keys (data and model: run --dry-run)\n", options.files.back());
  return 0;
}

int show(const ConfigOptions& options, const std::string& arm) {
  Tree tree = Tree::load(options.files, options.assignments);
  if (!arm.empty()) {
    const Study study = read_study(tree, false);
    const Arm* found = study.find(arm);
    if (found == nullptr) throw ConfigError("error: --arm " + arm + ": this study has no such arm");
    tree = found->configuration(study.spec.seeds.front(), {});
  }
  fmt::print("{}", write_spec(*read(tree), tree));
  return 0;
}

// Of a run folder, the configuration that it was made with.
std::string file_of(const std::string& name) {
  const std::filesystem::path resolved = std::filesystem::path(name) / "config.yaml";
  std::error_code ignored;
  return std::filesystem::is_regular_file(resolved, ignored) ? resolved.string() : name;
}

int show_difference(const std::string& a, const std::string& b) {
  for (const auto& item : diff(*read(Tree::load({file_of(a)})), *read(Tree::load({file_of(b)}))))
    fmt::print("{}: {} -> {}\n", item.path, item.a.empty() ? "(no such key)" : item.a,
               item.b.empty() ? "(no such key)" : item.b);
  return 0;
}

int schema(bool json, bool study) {
  const std::vector<FieldDoc> fields = study ? study_schema() : describe(*std::make_unique<ExperimentSpec>());
  fmt::print("{}", json ? schema_json(fields) : schema_text(fields));
  return 0;
}

const Command command{
    "config", "check, show, compare configurations; list all keys", [](CLI::App& app) {
      auto options = std::make_shared<ConfigOptions>();
      auto pair = std::make_shared<std::pair<std::string, std::string>>();
      auto json = std::make_shared<bool>(false);
      auto study = std::make_shared<bool>(false);
      auto arm = std::make_shared<std::string>();
      auto chosen = std::make_shared<std::function<int()>>();
      app.require_subcommand(1);
      CLI::App* checking = app.add_subcommand("check", "report all problems");
      options->declare(*checking, true);
      checking->callback([=] { *chosen = [=] { return check(*options); }; });
      CLI::App* showing = app.add_subcommand("show", "the resolved configuration, every key");
      options->declare(*showing, true);
      showing->callback([=] { *chosen = [=] { return show(*options, *arm); }; });
      showing->add_option("--arm", *arm, "of a study: the configuration of this arm");
      CLI::App* comparing = app.add_subcommand("diff", "keys in which two configurations differ");
      comparing->add_option("a", pair->first, "a YAML file, or a run folder")->required();
      comparing->add_option("b", pair->second, "another")->required();
      comparing->callback([=] { *chosen = [=] { return show_difference(pair->first, pair->second); }; });
      CLI::App* listing = app.add_subcommand("schema", "every key with type, default, range and meaning");
      listing->add_flag("--json", *json, "as JSON");
      listing->add_flag("--study", *study, "the keys of a study instead of those of an experiment");
      listing->callback([=] { *chosen = [=] { return schema(*json, *study); }; });
      return [chosen] { return (*chosen)(); };
    }};

}  // namespace
}  // namespace attnlab
