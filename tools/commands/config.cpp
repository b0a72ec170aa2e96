// attnlab config check|show|diff|schema: what a configuration says, whether it is right, and what could be
// said.
#include <fmt/core.h>

#include "command.h"
#include "config/schema.h"
#include "config/spec.h"
#include "train/experiment_spec.h"

namespace attnlab {
namespace {

std::unique_ptr<ExperimentSpec> read(const Tree& tree) {
  auto spec = std::make_unique<ExperimentSpec>();
  read_spec(tree, *spec);
  return spec;
}

int check(const ConfigOptions& options) {
  read(Tree::load(options.files, options.assignments));
  fmt::print("{}: no problems\n", options.files.back());
  return 0;
}

int show(const ConfigOptions& options) {
  const Tree tree = Tree::load(options.files, options.assignments);
  fmt::print("{}", write_spec(*read(tree), tree));
  return 0;
}

int show_difference(const std::string& a, const std::string& b) {
  for (const auto& item : diff(*read(Tree::load({a})), *read(Tree::load({b}))))
    fmt::print("{}: {} -> {}\n", item.path, item.a.empty() ? "(no such key)" : item.a,
               item.b.empty() ? "(no such key)" : item.b);
  return 0;
}

int schema(bool json) {
  const std::vector<FieldDoc> fields = describe(*std::make_unique<ExperimentSpec>());
  fmt::print("{}", json ? schema_json(fields) : schema_text(fields));
  return 0;
}

const Command command{
    "config", "check, show, compare configurations; list all keys", [](CLI::App& app) {
      auto options = std::make_shared<ConfigOptions>();
      auto pair = std::make_shared<std::pair<std::string, std::string>>();
      auto json = std::make_shared<bool>(false);
      auto chosen = std::make_shared<std::function<int()>>();
      app.require_subcommand(1);
      CLI::App* checking = app.add_subcommand("check", "report all problems");
      options->declare(*checking, true);
      checking->callback([=] { *chosen = [=] { return check(*options); }; });
      CLI::App* showing = app.add_subcommand("show", "the resolved configuration, every key");
      options->declare(*showing, true);
      showing->callback([=] { *chosen = [=] { return show(*options); }; });
      CLI::App* comparing = app.add_subcommand("diff", "keys in which two configurations differ");
      comparing->add_option("a", pair->first)->required();
      comparing->add_option("b", pair->second)->required();
      comparing->callback([=] { *chosen = [=] { return show_difference(pair->first, pair->second); }; });
      CLI::App* listing = app.add_subcommand("schema", "every key with type, default, range and meaning");
      listing->add_flag("--json", *json, "as JSON");
      listing->callback([=] { *chosen = [=] { return schema(*json); }; });
      return [chosen] { return (*chosen)(); };
    }};

}  // namespace
}  // namespace attnlab
