#include "config/schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/closest.h"

namespace attnlab {
namespace {

// "whole number, at least 1, in tokens"
std::string about(const FieldDoc& field) {
  std::string text = field.type;
  if (!field.range.empty()) text += ", " + field.range;
  if (!field.unit.empty()) text += ", in " + field.unit;
  if (!field.choices.empty()) text += ": " + join_names(field.choices);
  return text;
}

// What holds of some keys only.
std::vector<std::string> notes(const FieldDoc& field) {
  std::vector<std::string> list;
  if (!field.when.empty()) list.push_back("only with " + field.when);
  if (field.is_copy)
    list.push_back("has all keys and values of " +
                   (field.inherits.empty() ? "the top level" : field.inherits));
  return list;
}

// A cell of a Markdown table.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string schema_text(const std::vector<FieldDoc>& fields) {
  std::string text;
  for (const FieldDoc& field : fields) {
    text += fmt::format("{}{}{}\n    {} ({})\n", field.path, field.value.empty() ? "" : " = ", field.value,
                        field.doc, about(field));
    for (const std::string& note : notes(field)) text += fmt::format("    {}\n", note);
  }
  return text;
}

std::string schema_markdown(const std::vector<FieldDoc>& fields) {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const FieldDoc& field : fields) {
    std::string doc = field.doc;
    for (const std::string& note : notes(field)) doc += "; " + note;
    const std::string value = field.value.empty() ? "" : fmt::format("`{}`", escaped(field.value));
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.path, escaped(about(field)), value, escaped(doc));
  }
  return text;
}

std::string schema_json(const std::vector<FieldDoc>& fields) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FieldDoc& field : fields) {
    nlohmann::ordered_json object{
        {"path", field.path}, {"type", field.type}, {"default", field.value}, {"doc", field.doc}};
    if (!field.when.empty()) object["when"] = field.when;
    if (!field.range.empty()) object["range"] = field.range;
    if (!field.choices.empty()) object["choices"] = field.choices;
    if (!field.unit.empty()) object["unit"] = field.unit;
    if (field.is_copy) object["inherits"] = field.inherits;
    list.push_back(std::move(object));
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace attnlab
