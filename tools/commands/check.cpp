// attnlab check attention NAME | --all: the property tests, as a table. Exit code 1 if one failed.
#include <fmt/format.h>

#include "attention/attention.h"
#include "attention/properties.h"
#include "command.h"
#include "config/error.h"

namespace attnlab {
namespace {

bool check_and_print(const std::string& kind, const std::string& only) {
  const auto results = check_attention(kind, only);
  fmt::print("attention {}\n", kind);
  for (const PropertyResult& result : results)
    fmt::print("  {:<26} {:<16} {:>9}  {}\n", result.property, to_string(result.outcome),
               fmt::format("{:.2g}", result.worst), result.details);
  return none_failed(results);
}

int check_all(std::vector<std::string> kinds, bool all, const std::string& only) {
  if (kinds.empty() == !all) throw ConfigError("check attention: give names of kinds, or --all");
  if (all)
    for (const auto& kind : Registry<AttentionSpec>::list()) kinds.push_back(kind.name);
  for (const auto& kind : kinds)
    Registry<AttentionSpec>::make(kind);  // all names are right before work starts
  bool kept = true;
  for (const auto& kind : kinds) kept = check_and_print(kind, only) && kept;
  return kept ? 0 : 1;
}

const Command command{"check", "hold an attention to its promises", [](CLI::App& app) {
                        auto kinds = std::make_shared<std::vector<std::string>>();
                        auto all = std::make_shared<bool>(false);
                        auto only = std::make_shared<std::string>();
                        app.require_subcommand(1);
                        CLI::App* attention = app.add_subcommand("attention", "gradients, masks, batches, …");
                        attention->add_option("kind", *kinds, "names of kinds");
                        attention->add_flag("--all", *all, "every kind there is");
                        attention->add_option("--only", *only, "a single property, as the table names it");
                        return [kinds, all, only] { return check_all(*kinds, *all, *only); };
                      }};

}  // namespace
}  // namespace attnlab
