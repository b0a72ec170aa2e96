#include "config/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "config/closest.h"
#include "config/error.h"
#include "config/registry.h"
#include "config/scalars.h"
#include "config/value.h"

namespace attnlab {

SpecReader::SpecReader(Reading& reading, std::string path, Overlays layers, std::string kind)
    : reading_(reading), path_(std::move(path)), layers_(std::move(layers)), kind_(std::move(kind)) {
  if (!kind_.empty()) known_.push_back("kind");
}

void SpecReader::read(const std::function<void(Fields&)>& fields) {
  fields(*this);
  report_unknown_keys();
}

Overlays SpecReader::take(const Key& key) {
  known_.emplace_back(key.name);
  return overlays_of_key(layers_, key.name);
}

void SpecReader::refuse(const Overlay& layer, const SourcePosition& position, std::string_view key,
                        const std::string& wrong) {
  wrong_.emplace_back(key);
  if (!layer.inherited) reading_.problems.add(position, fmt::format("'{}' {}", path_of(key), wrong));
}

void SpecReader::on_value(const Key& key, ValueRef value, const Bounds& bounds) {
  const Overlays layers = take(key);
  if (layers.empty()) {
    const std::string wrong = scalar_position_ ? check_value(value, bounds) : "";
    if (!wrong.empty())
      reading_.problems.add(*scalar_position_, fmt::format("'{}' {}", path_of(key.name), wrong));
    return;
  }
  const ConfigNode* at = layers.back().node;
  const std::string wrong = read_value(*layers.back().node, value, bounds, at);
  if (!wrong.empty()) refuse(layers.back(), at->position, key.name, wrong);
}

void SpecReader::on_choice(const Key& key, const std::vector<std::string>& names, std::size_t& index) {
  const Overlays layers = take(key);
  if (layers.empty()) return;
  const ConfigNode& node = *layers.back().node;
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (node.type == ConfigNode::Type::scalar && found != names.end()) {
    index = static_cast<std::size_t>(found - names.begin());
    return;
  }
  const std::string near = node.type == ConfigNode::Type::scalar ? closest_match(node.text, names) : "";
  refuse(layers.back(), node.position, key.name,
         "must be one of " + join_names(names) + "; found " + node.found() +
             (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

bool SpecReader::all_sections(const Key& key, const Overlays& layers, const char* wanted) {
  bool good = true;
  for (const Overlay& layer : layers) {
    if (layer.node->type == ConfigNode::Type::map || layer.node->type == ConfigNode::Type::null) continue;
    refuse(layer, layer.node->position, key.name,
           std::string("must be ") + wanted + ", found " + layer.node->found());
    good = false;
  }
  return good;
}

void SpecReader::read_section(const Key& key, const Section& section, const Overlays& layers) {
  reading_.sections[{section.address, section.type}] = layers;
  SpecReader(reading_, path_of(key.name), layers).read(section.fields);
}

void SpecReader::on_section(const Key& key, const Section& section) {
  const Overlays layers = take(key);
  all_sections(key, layers, "a section");
  read_section(key, section, layers);
}

void SpecReader::on_scalar_or_section(const Key& key, const Section& section, Scalar scalar,
                                      const std::function<void(const Scalar&)>& set_all) {
  const Overlays layers = from_last_value(take(key));
  reading_.sections[{section.address, section.type}] = layers;
  SpecReader reader(reading_, path_of(key.name), layers);
  if (!layers.empty() && layers[0].node->type != ConfigNode::Type::map &&
      layers[0].node->type != ConfigNode::Type::null) {
    const ConfigNode& node = *layers[0].node;
    const std::string wrong = std::visit([&node](auto& value) { return read_scalar(node, value); }, scalar);
    const std::string expected = type_name(scalar) + " or a section";
    if (!wrong.empty() && node.type != ConfigNode::Type::scalar) {
      refuse(layers[0], node.position, key.name, "must be " + expected + ", found " + node.found());
    } else if (!wrong.empty()) {
      refuse(layers[0], node.position, key.name, wrong + " (or give a section)");
    } else {
      try {
        set_all(scalar);
        if (!layers[0].inherited) reader.check_defaults_at(node.position);
      } catch (const std::exception& error) {
        refuse(layers[0], node.position, key.name, error.what());
      }
    }
  }
  reader.read(section.fields);
}

void SpecReader::on_kind(const Key& key, const Kind& kind) {
  const Overlays layers = take(key);
  const std::shared_ptr<void> present = kind.get();
  std::string present_name;
  if (present) {
    const RegistryEntry entry = registry_entry(kind.registry, kind.type());
    present_name = entry.name;
    kind.set(
        entry.copy(present.get()));  // what is read must not show in specs that were copied from the same one
  }
  const KindOverlays resolved = resolve_kind(layers, present_name, kind.optional);
  check_kind_layers(key, kind, resolved.layers);
  try {
    if (resolved.changed && resolved.named_by.node)
      kind.set(registry_entry(kind.registry, resolved.name).make());
    else if (resolved.changed)
      kind.set(nullptr);
  } catch (const ConfigError& error) {
    return refuse(resolved.named_by, resolved.named_by.node->position, key.name,
                  fmt::format("has an {}", error.what()));
  }
  if (const std::shared_ptr<void> spec = kind.get())
    SpecReader(reading_, path_of(key.name), resolved.layers, resolved.name).read([&](Fields& f) {
      kind.fields(spec.get(), f);
    });
  else if (!resolved.layers.empty() && resolved.layers.back().node->type != ConfigNode::Type::null)
    refuse(resolved.layers.back(), resolved.layers.back().key, key.name,
           fmt::format("needs a kind of {}, as 'kind: NAME'", kind.registry));
}

void SpecReader::check_kind_layers(const Key& key, const Kind& kind, const Overlays& layers) {
  for (const Overlay& layer : layers) {
    const ConfigNode::Entry* name = layer.node->find("kind");
    if (layer.node->type == ConfigNode::Type::list)
      refuse(layer, layer.node->position, key.name,
             fmt::format("must be a kind of {} or a section, found a list", kind.registry));
    if (name && name->value.type != ConfigNode::Type::scalar)
      refuse(layer, name->value.position, std::string(key.name) + ".kind",
             fmt::format("must be a name, found {}", name->value.found()));
  }
}

void SpecReader::on_inherits(const Key& key, const Section& section, const Section& parent,
                             const std::function<void()>& copy) {
  const Overlays own = take(key);
  all_sections(key, own, "a section");
  copy();
  // The parent was read before as a section, or its keys stand in this very section. They are read once more
  // below the own ones, so that an inheriting section inside this one sees what was set for its counterpart
  // in the parent.
  const auto read = reading_.sections.find({parent.address, parent.type});
  Overlays layers = inherited(read == reading_.sections.end() ? layers_ : read->second);
  layers.insert(layers.end(), own.begin(), own.end());
  read_section(key, section, layers);
}

void SpecReader::on_failed_check(std::string_view key, std::string_view message) {
  if (reading_.damaged || std::find(wrong_.begin(), wrong_.end(), key) != wrong_.end()) return;
  Overlays at;
  for (std::string_view part = key;;) {
    at = overlays_of_path(layers_, part);
    const std::size_t dot = part.rfind('.');
    if (!at.empty() || dot == std::string_view::npos) break;
    part = part.substr(0, dot);
  }
  // An heir breaks the rules that its parent breaks; that is said once.
  const bool heir = !layers_.empty() && layers_.front().inherited && (at.empty() || at.back().inherited);
  if (!reading_.failed_checks.emplace(message).second && heir) return;
  const Overlay* nearest = !at.empty() ? &at.back() : !layers_.empty() ? &layers_.back() : nullptr;
  reading_.problems.add(nearest ? nearest->key : reading_.start,
                        fmt::format("'{}': {}", path_of(key), message));
}

void SpecReader::report_unknown_keys() {
  for (const Overlay& layer : layers_) {
    if (layer.inherited) continue;
    for (const ConfigNode::Entry& entry : layer.node->entries)
      if (std::find(known_.begin(), known_.end(), entry.key) == known_.end())
        reading_.unknown.push_back({path_, entry.key, kind_, known_, entry.position});
  }
}

}  // namespace attnlab
