// attnlab check attention NAME | --all: the property tests, as a table. Exit code 1 if one failed.
#include <fmt/format.h>

#include "attention/attention.h"
#include "attention/properties.h"
#include "command.h"
#include "config/error.h"

namespace attnlab {
namespace {

void print_row(const std::string& property, const std::string& outcome, const std::string& worst,
               const std::string& at) {
  fmt::print("  {:<26} {:<16} {:>9}  {}\n", property, outcome, worst, at);
}

bool check_and_print(const std::string& kind, const std::string& only) {
  const auto results = check_attention(kind, only);
  fmt::print("attention {}\n", kind);
  print_row("property", "outcome", "worst", "at");
  for (const PropertyResult& result : results)
    print_row(result.property, to_string(result.outcome), fmt::format("{:.2g}", result.worst),
              result.details);
  return none_failed(results);
}

// What the columns and the outcomes mean, once behind all tables.
void print_legend() {
  fmt::print(
      "worst: the error nearest to its bound, relative to the largest number of its tensor; where the\n"
      "  same bits are asked for, the largest difference; inf: NaN, infinity, or a wrong shape\n"
      "at: that bound and where it was; how many checks, if nothing is measured; or what went wrong\n");
  const std::pair<Outcome, const char*> meanings[] = {
      {Outcome::passed, "it holds, on the default keys and with each key of the kind's own changed"},
      {Outcome::failed, "it does not hold, or promises() says otherwise"},
      {Outcome::refused_cleanly,
       "not promised, and asking for it gives an error that names the kind: the one shown"},
      {Outcome::not_promised,
       "not promised, and nothing to refuse: the kind is not so, or has no such part"}};
  for (const auto& [outcome, meaning] : meanings) fmt::print("{}: {}\n", to_string(outcome), meaning);
}

int check_all(std::vector<std::string> kinds, bool all, const std::string& only) {
  if (kinds.empty() == !all) throw ConfigError("check attention: give names of kinds, or --all");
  if (all)
    for (const auto& kind : Registry<AttentionSpec>::list()) kinds.push_back(kind.name);
  for (const auto& kind : kinds)
    Registry<AttentionSpec>::make(kind);  // all names are right before work starts
  bool kept = true;
  for (const auto& kind : kinds) kept = check_and_print(kind, only) && kept;
  print_legend();
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
