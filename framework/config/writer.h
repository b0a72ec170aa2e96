// The Fields that writes: turns a spec into a map of nodes.
#pragma once

#include "config/fields.h"
#include "config/overlays.h"

namespace attnlab {

class SpecWriter final : public Fields {
 public:
  // `full` writes inheriting sections with all their keys. Otherwise they hold what differs from their
  // parent, and the keys that `given`, the layers of this section, sets explicitly.
  explicit SpecWriter(bool full, Overlays given = {});
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

  bool full_;
  Overlays given_;
  ConfigNode map_;
};

// The node in block style; strings are quoted where YAML would read something else.
std::string emit_yaml(const ConfigNode& node);
// The same in one line.
std::string emit_flow(const ConfigNode& node);

}  // namespace attnlab
