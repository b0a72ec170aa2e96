// The pieces of configuration that speak of one section, lowest precedence first. Overlays stay apart until a
// field takes what it needs, since only the field knows how they combine (another kind starts afresh, lists
// are replaced).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace attnlab {

struct Overlay {
  const ConfigNode* node;
  SourcePosition key;      // where the key of this section was written
  bool inherited = false;  // set for the section that this one starts from; its problems are reported there
};
using Overlays = std::vector<Overlay>;

// The layers of a key: one for each layer that has it.
Overlays overlays_of_key(const Overlays& layers, std::string_view key);
// The same for a dotted path.
Overlays overlays_of_path(const Overlays& layers, std::string_view path);
// As seen by a section that starts from the one with these layers.
Overlays inherited(Overlays layers);
// The layers on from the last one that is no section: what it says replaces everything below.
Overlays from_last_value(const Overlays& layers);
// One node for all: maps are joined key by key, anything else replaces what lies below. A map without content
// (null) says nothing.
ConfigNode merge(const Overlays& layers);

struct KindOverlays {
  std::string name;      // of the kind that holds in the end
  Overlays layers;       // those that speak of it
  Overlay named_by{};    // no node: nothing named a kind
  bool changed = false;  // it is another kind than the one at the start
};
// Which kind these layers ask for, given the present one ("" for none). A layer names a kind as a scalar or
// under `kind:`; where the kind is optional, null takes back what the layers below say.
KindOverlays resolve_kind(const Overlays& layers, const std::string& present, bool optional);

}  // namespace attnlab
