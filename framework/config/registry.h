// Named kinds of one spec base, for f.kind(): attention, task, … A kind registers itself from its own .cpp
// file:
//   const Registered<AttentionSpec, WindowSpec> registered{"window", "each token sees its neighbours"};
// where the base says `static constexpr const char* kRegistry = "attention";`. The table lives in the shared
// library, so that a plug-in loaded later lands in the same one. Kinds need a default and a copy constructor,
// no clone().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

namespace attnlab {

struct RegistryEntry {
  std::string name;
  std::string doc;
  std::type_index type;
  std::function<std::shared_ptr<void>()> make;             // points to the base
  std::function<std::shared_ptr<void>(const void*)> copy;  // from and to the base
};

// Adds a kind. Throws std::logic_error if `registry` has that name or that class already.
void add_to_registry(const std::string& registry, RegistryEntry entry);
// As add_to_registry, but keeps the error for check_registries(): a static constructor must not throw.
void add_to_registry_later(const std::string& registry, RegistryEntry entry) noexcept;
// Throws what went wrong in static constructors, if anything. Every look-up below calls it.
void check_registries();
// All registries that have a kind, in name order.
std::vector<std::string> registry_names();
// The kinds of a registry in name order; empty for an unknown registry.
std::vector<RegistryEntry> registry_entries(const std::string& registry);
// Where further kinds come from, in a program that can load some: said of every unknown kind.
void set_source_of_further_kinds(const std::string& hint);
// Throws ConfigError with a near match, all known names, and where further kinds come from.
RegistryEntry registry_entry(const std::string& registry, std::string_view name);
// The kind whose class is `type`. Throws std::logic_error if it was never registered.
RegistryEntry registry_entry(const std::string& registry, std::type_index type);

template <class Base>
struct Registry {
  struct Kind {
    std::string name, doc;
  };
  // All kinds in name order.
  static std::vector<Kind> list() {
    std::vector<Kind> kinds;
    for (const RegistryEntry& entry : registry_entries(Base::kRegistry))
      kinds.push_back({entry.name, entry.doc});
    return kinds;
  }
  // The default spec of that kind. Throws ConfigError with a near match and all known names.
  static std::shared_ptr<Base> make(std::string_view name) {
    return std::static_pointer_cast<Base>(registry_entry(Base::kRegistry, name).make());
  }
  // The name under which the class of `spec` was registered.
  static std::string name_of(const Base& spec) { return registry_entry(Base::kRegistry, typeid(spec)).name; }
  // A deep copy, as the class that it is.
  static std::shared_ptr<Base> clone(const Base& spec) {
    return std::static_pointer_cast<Base>(registry_entry(Base::kRegistry, typeid(spec)).copy(&spec));
  }
};

template <class Base, class Derived>
struct Registered {
  Registered(const char* name, const char* doc) {
    add_to_registry_later(
        Base::kRegistry,
        {name, doc, typeid(Derived),
         []() -> std::shared_ptr<void> { return std::shared_ptr<Base>(std::make_shared<Derived>()); },
         [](const void* spec) -> std::shared_ptr<void> {
           const auto& derived = static_cast<const Derived&>(*static_cast<const Base*>(spec));
           return std::shared_ptr<Base>(std::make_shared<Derived>(derived));
         }});
  }
};

}  // namespace attnlab
