// What a study itself puts on top of an arm's configuration.
#pragma once

#include <string>

#include "config/document.h"

namespace attnlab {

// A number as if it had been written at that place.
ConfigNode number_node(const std::string& text, const SourcePosition& position);

// The smallest run there is: one step that is too small to change a bit of the weights, whatever rates parts
// of the model have in `tree`.
ConfigNode untrained_overlay(const Tree& tree, const SourcePosition& position);

}  // namespace attnlab
