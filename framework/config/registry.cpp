#include "config/registry.h"

#include <map>
#include <mutex>
#include <stdexcept>

#include "config/closest.h"
#include "config/error.h"

namespace attnlab {
namespace {

struct Store {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, RegistryEntry>> registries;
  std::string failure;        // what static constructors could not throw
  std::string further_kinds;  // where they come from
};

// Built on first use, since static constructors of other files come here in any order.
Store& store() {
  static Store the_store;
  return the_store;
}

}  // namespace

void add_to_registry(const std::string& registry, RegistryEntry entry) {
  const std::lock_guard lock(store().mutex);
  auto& kinds = store().registries[registry];
  for (const auto& [name, other] : kinds)
    if (name == entry.name || other.type == entry.type)
      throw std::logic_error("the kind '" + entry.name + "' of " + registry + " is registered twice" +
                             (name == entry.name ? "" : ", also as '" + name + "'"));
  const std::string name = entry.name;
  kinds.emplace(name, std::move(entry));
}

void add_to_registry_later(const std::string& registry, RegistryEntry entry) noexcept {
  try {
    add_to_registry(registry, std::move(entry));
  } catch (const std::exception& error) {
    const std::lock_guard lock(store().mutex);
    if (store().failure.empty()) store().failure = error.what();
  }
}

void check_registries() {
  const std::lock_guard lock(store().mutex);
  if (!store().failure.empty()) throw std::logic_error(store().failure);
}

std::vector<std::string> registry_names() {
  check_registries();
  const std::lock_guard lock(store().mutex);
  std::vector<std::string> names;
  for (const auto& [name, entries] : store().registries) names.push_back(name);
  return names;
}

std::vector<RegistryEntry> registry_entries(const std::string& registry) {
  check_registries();
  const std::lock_guard lock(store().mutex);
  std::vector<RegistryEntry> entries;
  if (const auto found = store().registries.find(registry); found != store().registries.end())
    for (const auto& [name, entry] : found->second) entries.push_back(entry);
  return entries;
}

void set_source_of_further_kinds(const std::string& hint) {
  const std::lock_guard lock(store().mutex);
  store().further_kinds = hint;
}

RegistryEntry registry_entry(const std::string& registry, std::string_view name) {
  std::vector<std::string> known;
  for (RegistryEntry& entry : registry_entries(registry)) {
    if (entry.name == name) return std::move(entry);
    known.push_back(entry.name);
  }
  const std::string near = closest_match(name, known);
  const std::lock_guard lock(store().mutex);
  const std::string& further = store().further_kinds;
  throw ConfigError("unknown kind '" + std::string(name.substr(0, 60)) + "' of " + registry +
                    (near.empty() ? "" : ", did you mean '" + near + "'?") +
                    "; known kinds: " + join_names(known) + (further.empty() ? "" : "; " + further));
}

RegistryEntry registry_entry(const std::string& registry, std::type_index type) {
  for (RegistryEntry& entry : registry_entries(registry))
    if (entry.type == type) return std::move(entry);
  throw std::logic_error(std::string("the class ") + type.name() + " is not registered as a kind of " +
                         registry);
}

}  // namespace attnlab
