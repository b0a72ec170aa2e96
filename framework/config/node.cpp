#include "config/node.h"

#include <algorithm>

namespace attnlab {
namespace {

// Long or multi-line text does not fit in a message.
std::string shortened(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (shown.size() >= 60 && (static_cast<unsigned char>(c) & 0xC0) != 0x80) return shown + "…";
    shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return shown;
}

}  // namespace

const ConfigNode::Entry* ConfigNode::find(std::string_view key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [key](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

bool ConfigNode::same_value(const ConfigNode& other) const {
  if (type != other.type || text != other.text || quoted != other.quoted ||
      items.size() != other.items.size() || entries.size() != other.entries.size())
    return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].same_value(other.items[i])) return false;
  return std::all_of(entries.begin(), entries.end(), [&other](const Entry& entry) {
    const Entry* match = other.find(entry.key);
    return match && entry.value.same_value(match->value);
  });
}

std::string ConfigNode::found() const {
  switch (type) {
    case Type::null:
      return "no value";
    case Type::list:
      return "a list";
    case Type::map:
      return "a section";
    case Type::scalar:
      break;
  }
  return quoted ? "the text \"" + shortened(text) + "\"" : "'" + shortened(text) + "'";
}

}  // namespace attnlab
