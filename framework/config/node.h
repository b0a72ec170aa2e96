// A piece of YAML as it was written: null, scalar, list or map, each with its position. No types are guessed
// here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/position.h"

namespace attnlab {

struct ConfigNode {
  enum class Type { null, scalar, list, map };
  struct Entry;

  Type type = Type::null;
  std::string text;           // of a scalar
  bool quoted = false;        // a scalar in quotes is text, never a number
  bool kind_section = false;  // a map written by Fields::kind
  SourcePosition position;
  std::vector<ConfigNode> items;
  std::vector<Entry> entries;

  // The entry of a map, or null.
  const Entry* find(std::string_view key) const;
  // The same value, wherever it was written.
  bool same_value(const ConfigNode& other) const;
  // For messages: "'two'", "a list", "a section", "no value".
  std::string found() const;
};

struct ConfigNode::Entry {
  std::string key;
  SourcePosition position;  // of the key
  ConfigNode value;
};

}  // namespace attnlab
