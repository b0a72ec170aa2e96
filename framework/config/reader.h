// The Fields that reads: takes each key from the layers of a tree, checks it, and keeps account of what is
// wrong.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/overlays.h"
#include "config/problems.h"

namespace attnlab {

// A key that nobody knows where it stands.
struct UnknownKey {
  std::string section;  // path of the section, "" at the top
  std::string key;
  std::string kind;                // the kind of the section, if it has one
  std::vector<std::string> known;  // the keys of that section
  SourcePosition position;
};

// What all readers of one tree share.
struct Reading {
  Problems& problems;
  SourcePosition start;  // for rules about keys that nobody gave
  bool damaged = false;  // text was lost: rules across fields would complain about what they cannot see
  std::vector<UnknownKey> unknown;
  std::map<std::pair<const void*, std::type_index>, Overlays> sections{};  // by address of their specs
  std::set<std::string> failed_checks{};                                   // their messages
};

class SpecReader final : public Fields {
 public:
  SpecReader(Reading& reading, std::string path, Overlays layers, std::string kind = {});
  // Runs `fields` on this reader, then reports the keys that it did not ask for.
  void read(const std::function<void(Fields&)>& fields);
  // Keys of this section that somebody else reads.
  void leave_to_caller(const std::vector<std::string>& keys) {
    known_.insert(known_.end(), keys.begin(), keys.end());
  }
  // Values that came from one scalar for the whole section are checked as if each had been given there.
  void check_defaults_at(const SourcePosition& position) { scalar_position_ = position; }

 protected:
  void on_value(const Key& key, ValueRef value, const Bounds& bounds) override;
  void on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) override;
  void on_section(const Key& key, const Section& section) override;
  void on_scalar_or_section(const Key& key, const Section& section, Scalar scalar,
                            const std::function<void(const Scalar&)>& set_all) override;
  void on_kind(const Key& key, const Kind& kind) override;
  void on_inherits(const Key& key, const Section& section, const Section& parent,
                   const std::function<void()>& copy) override;
  void on_failed_check(std::string_view key, std::string_view message) override;

 private:
  std::string path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }
  Overlays take(const Key& key);
  void refuse(const Overlay& layer, const SourcePosition& position, std::string_view key,
              const std::string& wrong);
  void check_kind_layers(const Key& key, const Kind& kind, const Overlays& layers);
  void read_section(const Key& key, const Section& section, const Overlays& layers);
  bool all_sections(const Key& key, const Overlays& layers, const char* wanted);
  void report_unknown_keys();

  Reading& reading_;
  std::string path_;
  Overlays layers_;
  std::string kind_;
  std::vector<std::string> known_, wrong_;
  std::optional<SourcePosition> scalar_position_;
};

}  // namespace attnlab
