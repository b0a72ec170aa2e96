#include "config/layers.h"

namespace attnlab {

Layers layers_of_key(const Layers& layers, std::string_view key) {
  Layers found;
  for (const Layer& layer : layers)
    if (const ConfigNode::Entry* entry = layer.node->find(key))
      found.push_back({&entry->value, entry->position, layer.inherited});
  return found;
}

Layers layers_of_path(const Layers& layers, std::string_view path) {
  const std::size_t dot = path.find('.');
  Layers found = layers_of_key(layers, path.substr(0, dot));
  return dot == std::string_view::npos ? found : layers_of_path(found, path.substr(dot + 1));
}

Layers inherited(Layers layers) {
  for (Layer& layer : layers) layer.inherited = true;
  return layers;
}

Layers from_last_value(const Layers& layers) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ConfigNode::Type type = layers[i].node->type;
    if (type == ConfigNode::Type::scalar || type == ConfigNode::Type::list) begin = i;
  }
  return Layers(layers.begin() + static_cast<std::ptrdiff_t>(begin), layers.end());
}

KindLayers resolve_kind(const Layers& layers, const std::string& present) {
  KindLayers kind{.name = present};
  for (const Layer& layer : layers) {
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
