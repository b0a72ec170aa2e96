// The Fields that writes: turns a spec into a map of nodes.
#pragma once

#include "config/fields.h"
#include "config/overlays.h"

namespace attnlab {

// Which keys are written.
enum class Keys {
  on_top,  // all, but inheriting sections hold what differs from their parent, and what is given explicitly
  all,     // inheriting sections with all their keys, too
  departures,  // all but those of kinds that are as the kind has them by default; see departures() for the
               // rest
};

class SpecWriter final : public Fields {
 public:
  // `given`: the layers of this section.
  explicit SpecWriter(Keys keys, Overlays given = {});
  ConfigNode write(const std::function<void(Fields&)>& fields);

 protected:
  void on_value(const Key& key, ValueRef value, const Bounds& bounds) override;
  void on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) override;
  void on_section(const Key& key, const Section& section) override;
  void on_scalar_or_section(const Key& key, const Section& section, Scalar scalar,
                            const std::function<void(const Scalar&)>& set_all) override;
  void on_kind(const Key& key, const Kind& kind) override;
  void on_inherits(const Key& key, const Section& section, const Section& parent,
                   const std::function<void()>& copy) override;
  void on_failed_check(std::string_view, std::string_view) override {}

 private:
  void add(const Key& key, ConfigNode node);

  Keys keys_;
  Overlays given_;
  ConfigNode map_;
};

// What of `own` is not as in `standard`, both written as departures. A kind is said whole where it is not the
// same.
ConfigNode departures(const ConfigNode& standard, const ConfigNode& own);

// The node in block style; strings are quoted where YAML would read something else.
std::string emit_yaml(const ConfigNode& node);
// The same in one line.
std::string emit_flow(const ConfigNode& node);

}  // namespace attnlab
