// The Fields that lists every key, those of all registered kinds included.
#include <algorithm>
#include <map>

#include "config/registry.h"
#include "config/spec.h"
#include "config/value.h"
#include "config/writer.h"

namespace attnlab {
namespace {

bool same_field(const FieldDoc& a, const FieldDoc& b) {
  return a.path == b.path && a.when == b.when && a.type == b.type && a.value == b.value &&
         a.range == b.range && a.choices == b.choices && a.unit == b.unit && a.doc == b.doc;
}

// What all describers of one spec share.
struct Describing {
  std::vector<std::string>
      open_registries;  // a kind may hold another of its own registry, which is listed once
  std::map<std::pair<const void*, std::type_index>, std::string> sections;  // paths by address
};

class SpecDescriber final : public Fields {
 public:
  SpecDescriber(Describing& shared, std::string path) : shared_(shared), path_(std::move(path)) {}
  std::vector<FieldDoc> list(const std::function<void(Fields&)>& fields) {
    fields(*this);
    return std::move(fields_);
  }

 protected:
  void on_value(const Key& key, ValueRef value, const Bounds& bounds) override {
    FieldDoc& field = add(key, type_name(value));
    field.value = emit_flow(write_value(value));
    field.range = bounds.text();
  }

  void on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) override {
    FieldDoc& field = add(key, "choice");
    field.value = names[index];
    field.choices = names;
  }

  void on_section(const Key& key, const Section& section) override {
    add(key, "section");
    nest(key, section);
  }

  void on_scalar_or_section(const Key& key, const Section& section, Scalar scalar,
                            const std::function<void(const Scalar&)>&) override {
    add(key, type_name(scalar) + " or section");
    nest(key, section);
  }

  void on_kind(const Key& key, const Kind& kind) override {
    const std::shared_ptr<void> present = kind.get();
    FieldDoc& field = add(key, "kind of " + kind.registry + (kind.optional ? " or null" : ""));
    const std::vector<RegistryEntry> entries = registry_entries(kind.registry);
    for (const RegistryEntry& entry : entries) field.choices.push_back(entry.name);
    field.value = present ? registry_entry(kind.registry, kind.type()).name : kind.optional ? "null" : "";
    const std::string present_name = field.value, path = field.path;
    auto& open = shared_.open_registries;
    if (std::find(open.begin(), open.end(), kind.registry) != open.end()) return;
    open.push_back(kind.registry);
    std::vector<std::vector<FieldDoc>> of_kinds;
    for (const RegistryEntry& entry : entries) {
      const std::shared_ptr<void> spec = entry.name == present_name ? present : entry.make();
      of_kinds.push_back(SpecDescriber(shared_, path).list([&](Fields& f) { kind.fields(spec.get(), f); }));
    }
    open.pop_back();
    add_kinds(path, entries, of_kinds);
  }

  void on_inherits(const Key& key, const Section&, const Section& parent,
                   const std::function<void()>&) override {
    FieldDoc& field = add(key, "section");
    field.is_copy = true;
    const auto found = shared_.sections.find({parent.address, parent.type});
    field.inherits = found == shared_.sections.end() ? path_ : found->second;
  }

  void on_failed_check(std::string_view, std::string_view) override {}

 private:
  FieldDoc& add(const Key& key, const std::string& type) {
    FieldDoc field;
    field.path = (path_.empty() ? "" : path_ + ".") + std::string(key.name);
    field.type = type;
    field.unit = key.unit;
    field.doc = key.doc;
    fields_.push_back(std::move(field));
    return fields_.back();
  }

  void nest(const Key& key, const Section& section) {
    const std::string path = (path_.empty() ? "" : path_ + ".") + std::string(key.name);
    shared_.sections[{section.address, section.type}] = path;
    append(SpecDescriber(shared_, path).list(section.fields));
  }

  void append(std::vector<FieldDoc> fields) { fields_.insert(fields_.end(), fields.begin(), fields.end()); }

  // Keys that several kinds have alike come once, under the condition that names those kinds; without one if
  // all do.
  void add_kinds(const std::string& path, const std::vector<RegistryEntry>& entries,
                 const std::vector<std::vector<FieldDoc>>& of_kinds) {
    std::vector<std::pair<FieldDoc, std::vector<std::string>>> found;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      for (const FieldDoc& field : of_kinds[k]) {
        auto same = std::find_if(found.begin(), found.end(),
                                 [&field](const auto& other) { return same_field(field, other.first); });
        if (same == found.end()) same = found.insert(found.end(), {field, {}});
        same->second.push_back(entries[k].name);
      }
    }
    for (auto& [field, kinds] : found) {
      if (kinds.size() < entries.size() || entries.size() == 1) {
        std::string condition = path + ".kind=" + kinds[0];
        for (std::size_t i = 1; i < kinds.size(); ++i) condition += "|" + kinds[i];
        field.when = condition + (field.when.empty() ? "" : ", ") + field.when;
      }
      fields_.push_back(std::move(field));
    }
  }

  Describing& shared_;
  std::string path_;
  std::vector<FieldDoc> fields_;
};

}  // namespace

std::vector<FieldDoc> describe_fields(const DescribeSpec& fields) {
  Describing shared;
  return SpecDescriber(shared, "").list(fields);
}

}  // namespace attnlab
