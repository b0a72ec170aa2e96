#include "config/writer.h"

#include <algorithm>

#include "config/registry.h"
#include "config/value.h"

namespace attnlab {
namespace {

ConfigNode text_node(const std::string& text) {
  ConfigNode node;
  node.type = ConfigNode::Type::scalar;
  node.text = text;
  node.quoted = true;
  return node;
}

bool has_scalar(const Overlays& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const Overlay& layer) { return layer.node->type == ConfigNode::Type::scalar; });
}

bool is_map(const ConfigNode& node) { return node.type == ConfigNode::Type::map; }

bool same_kind(const ConfigNode& a, const ConfigNode& b) {
  if (!a.kind_section || !b.kind_section) return a.kind_section == b.kind_section;
  return a.find("kind")->value.text == b.find("kind")->value.text;
}

// What of `own` must be said on top of `parent`: what differs, and what was given explicitly.
ConfigNode on_top_of(const ConfigNode& parent, const ConfigNode& own, const Overlays& given) {
  ConfigNode result = own;
  result.entries.clear();
  for (const ConfigNode::Entry& entry : own.entries) {
    const ConfigNode::Entry* match = parent.find(entry.key);
    const Overlays given_here = overlays_of_key(given, entry.key);
    const bool name_given = own.kind_section && entry.key == "kind" && has_scalar(given);
    // One scalar for a whole section gave all of its keys; for a kind it gave the name only.
    const bool all_given = has_scalar(given_here) && !entry.value.kind_section;
    if (match && is_map(entry.value) && is_map(match->value) && same_kind(entry.value, match->value) &&
        !all_given) {
      ConfigNode part = on_top_of(match->value, entry.value, given_here);
      if (!part.entries.empty()) result.entries.push_back({entry.key, entry.position, std::move(part)});
    } else if (!match || !entry.value.same_value(match->value) || !given_here.empty() || name_given) {
      result.entries.push_back(entry);
    }
  }
  return result;
}

}  // namespace

SpecWriter::SpecWriter(Keys keys, Overlays given) : keys_(keys), given_(std::move(given)) {
  map_.type = ConfigNode::Type::map;
}

ConfigNode SpecWriter::write(const std::function<void(Fields&)>& fields) {
  fields(*this);
  return std::move(map_);
}

void SpecWriter::add(const Key& key, ConfigNode node) {
  map_.entries.push_back({std::string(key.name), {}, std::move(node)});
}

void SpecWriter::on_value(const Key& key, ValueRef value, const Bounds&) { add(key, write_value(value)); }

void SpecWriter::on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) {
  add(key, text_node(names[index]));
}

void SpecWriter::on_section(const Key& key, const Section& section) {
  add(key, SpecWriter(keys_, overlays_of_key(given_, key.name)).write(section.fields));
}

void SpecWriter::on_scalar_or_section(const Key& key, const Section& section, Scalar,
                                      const std::function<void(const Scalar&)>&) {
  on_section(key, section);
}

void SpecWriter::on_kind(const Key& key, const Kind& kind) {
  const std::shared_ptr<void> spec = kind.get();
  if (!spec) return add(key, ConfigNode{});
  const RegistryEntry entry = registry_entry(kind.registry, kind.type());
  const auto own_keys = [&](void* of) {
    return SpecWriter(keys_, overlays_of_key(given_, key.name)).write([&](Fields& f) { kind.fields(of, f); });
  };
  ConfigNode node = own_keys(spec.get());
  if (keys_ == Keys::departures) node = departures(own_keys(entry.make().get()), node);
  node.entries.insert(node.entries.begin(), {"kind", {}, text_node(entry.name)});
  node.kind_section = true;
  add(key, std::move(node));
}

void SpecWriter::on_inherits(const Key& key, const Section& section, const Section& parent,
                             const std::function<void()>&) {
  if (keys_ != Keys::on_top) return on_section(key, section);
  add(key, on_top_of(SpecWriter(Keys::all).write(parent.fields), SpecWriter(Keys::all).write(section.fields),
                     overlays_of_key(given_, key.name)));
}

ConfigNode departures(const ConfigNode& standard, const ConfigNode& own) {
  ConfigNode result = own;
  result.entries.clear();
  for (const ConfigNode::Entry& entry : own.entries) {
    const ConfigNode::Entry* match = standard.find(entry.key);
    const bool sections = match && is_map(entry.value) && is_map(match->value) && !entry.value.kind_section &&
                          !match->value.kind_section;
    if (sections) {
      ConfigNode part = departures(match->value, entry.value);
      if (!part.entries.empty()) result.entries.push_back({entry.key, entry.position, std::move(part)});
    } else if (!match || !entry.value.same_value(match->value)) {
      result.entries.push_back(entry);
    }
  }
  return result;
}

}  // namespace attnlab
