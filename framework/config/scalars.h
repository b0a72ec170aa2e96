// Between YAML scalars and numbers, truth values and text: strict on the way in, shortest round trip on the
// way out.
#pragma once

#include <cstdint>
#include <string>

#include "config/node.h"

namespace attnlab {

// Each sets `out` and returns an empty text, or returns what is wrong: "must be a whole number, found 'two'".
std::string read_scalar(const ConfigNode& node, bool& out);
std::string read_scalar(const ConfigNode& node, std::int64_t& out);  // also 1e3 and 3.0, when exact
std::string read_scalar(const ConfigNode& node, double& out);
std::string read_scalar(const ConfigNode& node, std::string& out);

// Shortest text that reads back to the same double, always recognisable as a number with a fraction: "1.0",
// "1e-09".
std::string number_text(double value);
// The same without a needless ".0", for messages.
std::string short_number(double value);
// Plain scalars that other YAML readers take for a number, a truth value or null, and so must be quoted as
// text.
bool looks_like_other_type(const std::string& text);

}  // namespace attnlab
