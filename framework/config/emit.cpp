#include <yaml-cpp/emitter.h>

#include <algorithm>

#include "config/scalars.h"
#include "config/writer.h"

namespace attnlab {
namespace {

// Text that means itself without quotes.
bool is_plain(const std::string& text) {
  if (looks_like_other_type(text) || text.back() == ' ') return false;
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
  };
  const auto allowed = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == ' ';
  };
  return letter(text[0]) && std::all_of(text.begin(), text.end(), allowed);
}

void emit(YAML::Emitter& out, const ConfigNode& node, bool flow) {
  switch (node.type) {
    case ConfigNode::Type::null:
      out << YAML::Null;
      return;
    case ConfigNode::Type::scalar:
      if (node.quoted && !is_plain(node.text)) out << YAML::DoubleQuoted;
      out << node.text;
      return;
    case ConfigNode::Type::list:
      if (flow || node.items.empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const ConfigNode& item : node.items) emit(out, item, flow);
      out << YAML::EndSeq;
      return;
    case ConfigNode::Type::map:
      if (flow || node.entries.empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const ConfigNode::Entry& entry : node.entries) {
        out << YAML::Key << entry.key << YAML::Value;
        emit(out, entry.value, flow);
      }
      out << YAML::EndMap;
  }
}

std::string emitted(const ConfigNode& node, bool flow) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  emit(out, node, flow);
  return out.c_str();
}

}  // namespace

std::string emit_yaml(const ConfigNode& node) { return emitted(node, false) + "\n"; }

std::string emit_flow(const ConfigNode& node) { return emitted(node, true); }

}  // namespace attnlab
