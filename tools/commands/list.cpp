// attnlab list: the registered kinds of everything, with what each promises.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attention/attention.h"
#include "command.h"
#include "config/closest.h"
#include "config/error.h"

namespace attnlab {
namespace {

std::vector<std::pair<std::string, bool>> promise_list(const Promises& p) {
  return {{"causal", p.causal},
          {"intervals", p.intervals},
          {"incremental", p.incremental},
          {"query_subset", p.query_subset},
          {"key_permutation", p.key_permutation},
          {"dependence", p.dependence},
          {"dropout", p.dropout},
          {"exact", p.exact}};
}

nlohmann::ordered_json entry_json(const std::string& registry, const RegistryEntry& entry) {
  nlohmann::ordered_json item{{"registry", registry}, {"name", entry.name}, {"doc", entry.doc}};
  if (registry != AttentionSpec::kRegistry) return item;
  const Promises promises = Registry<AttentionSpec>::make(entry.name)->promises();
  for (const auto& [name, kept] : promise_list(promises)) item["promises"][name] = kept;
  item["cost"] = promises.cost;
  return item;
}

void print_entry(const std::string& registry, const RegistryEntry& entry) {
  fmt::print("  {:<18} {}\n", entry.name, entry.doc);
  if (registry != AttentionSpec::kRegistry) return;
  const Promises promises = Registry<AttentionSpec>::make(entry.name)->promises();
  std::string kept;
  for (const auto& [name, holds] : promise_list(promises))
    if (holds) kept += (kept.empty() ? "" : ", ") + name;
  fmt::print("  {:<18} promises {}; cost {}\n", "", kept.empty() ? "nothing" : kept, promises.cost);
}

int list(const std::string& wanted, bool json) {
  const auto names = registry_names();
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end()) {
    const std::string near = closest_match(wanted, names);
    throw ConfigError(fmt::format("error: no registry '{}'{}; there are: {}", wanted,
                                  near.empty() ? "" : ", did you mean '" + near + "'?", join_names(names)));
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& registry : names) {
    if (!wanted.empty() && registry != wanted) continue;
    if (!json) fmt::print("{}\n", registry);
    for (const auto& entry : registry_entries(registry)) {
      if (json)
        all.push_back(entry_json(registry, entry));
      else
        print_entry(registry, entry);
    }
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return 0;
}

const Command command{"list",
                      "registered kinds of everything: attention, task, optimizer, probe, expectation, …",
                      [](CLI::App& app) {
                        auto wanted = std::make_shared<std::string>();
                        auto json = std::make_shared<bool>(false);
                        app.add_option("registry", *wanted, "only this one");
                        app.add_flag("--json", *json, "as JSON");
                        return [wanted, json] { return list(*wanted, *json); };
                      }};

}  // namespace
}  // namespace attnlab
