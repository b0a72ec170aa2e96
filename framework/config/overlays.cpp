#include "config/overlays.h"

#include <algorithm>

namespace attnlab {

Overlays overlays_of_key(const Overlays& layers, std::string_view key) {
  Overlays found;
  for (const Overlay& layer : layers)
    if (const ConfigNode::Entry* entry = layer.node->find(key))
      found.push_back({&entry->value, entry->position, layer.inherited});
  return found;
}

Overlays overlays_of_path(const Overlays& layers, std::string_view path) {
  const std::size_t dot = path.find('.');
  Overlays found = overlays_of_key(layers, path.substr(0, dot));
  return dot == std::string_view::npos ? found : overlays_of_path(found, path.substr(dot + 1));
}

Overlays inherited(Overlays layers) {
  for (Overlay& layer : layers) layer.inherited = true;
  return layers;
}

Overlays from_last_value(const Overlays& layers) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ConfigNode::Type type = layers[i].node->type;
    if (type == ConfigNode::Type::scalar || type == ConfigNode::Type::list) begin = i;
  }
  return Overlays(layers.begin() + static_cast<std::ptrdiff_t>(begin), layers.end());
}

ConfigNode merge(const Overlays& layers) {
  ConfigNode result;
  for (const Overlay& layer : layers) {
    const bool joins = result.type == ConfigNode::Type::map;
    if (joins && layer.node->type == ConfigNode::Type::null) continue;
    if (!joins || layer.node->type != ConfigNode::Type::map) {
      result = *layer.node;
      continue;
    }
    for (const ConfigNode::Entry& entry : layer.node->entries) {
      const auto below = std::find_if(result.entries.begin(), result.entries.end(),
                                      [&entry](const auto& other) { return other.key == entry.key; });
      if (below == result.entries.end())
        result.entries.push_back(entry);
      else
        *below = {entry.key, entry.position,
                  merge({{&below->value, below->position}, {&entry.value, entry.position}})};
    }
  }
  return result;
}

KindOverlays resolve_kind(const Overlays& layers, const std::string& present, bool optional) {
  KindOverlays kind{.name = present};
  for (const Overlay& layer : layers) {
    if (optional && layer.node->type == ConfigNode::Type::null) {
      kind = {.changed = true};
      continue;
    }
    const ConfigNode::Entry* entry = layer.node->find("kind");
    const ConfigNode* named = entry                                          ? &entry->value
                              : layer.node->type == ConfigNode::Type::scalar ? layer.node
                                                                             : nullptr;
    if (named && named->type == ConfigNode::Type::scalar) {
      if (named->text != kind.name) kind.layers.clear(), kind.changed = true;
      kind.name = named->text;
      kind.named_by = {named, layer.key, layer.inherited};
    }
    kind.layers.push_back(layer);
  }
  return kind;
}

}  // namespace attnlab
