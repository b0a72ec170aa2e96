// The pieces of configuration that speak of one section, lowest precedence first. Overlays stay apart until a
// field takes what it needs, since only the field knows how they combine (another kind starts afresh, lists
// are replaced).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace attnlab {

struct Layer {
  const ConfigNode* node;
  SourcePosition key;      // where the key of this section was written
  bool inherited = false;  // set for the section that this one starts from; its problems are reported there
};
using Layers = std::vector<Layer>;

// The layers of a key: one for each layer that has it.
Layers layers_of_key(const Layers& layers, std::string_view key);
// The same for a dotted path.
Layers layers_of_path(const Layers& layers, std::string_view path);
// As seen by a section that starts from the one with these layers.
Layers inherited(Layers layers);
// The layers on from the last one that is no section: what it says replaces everything below.
Layers from_last_value(const Layers& layers);

struct KindLayers {
  std::string name;      // of the kind that holds in the end
  Layers layers;         // those that speak of it
  Layer named_by{};      // no node: nothing named a kind
  bool changed = false;  // it is another kind than the one at the start
};
// Which kind these layers ask for, given the present one ("" for none). A layer names a kind as a scalar or
// under `kind:`.
KindLayers resolve_kind(const Layers& layers, const std::string& present);

}  // namespace attnlab
