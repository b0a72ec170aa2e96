#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "config/closest.h"

namespace attnlab {
namespace {

using Row = std::array<std::string, 4>;

// Key, type with range or choices, default, doc.
Row row_of(const FieldDoc& field) {
  std::string type = field.type;
  if (!field.range.empty()) type += ", " + field.range;
  if (!field.choices.empty()) type += ": " + join_names(field.choices);
  std::string doc = field.doc;
  if (!field.unit.empty()) doc += fmt::format(" [{}]", field.unit);
  if (field.is_copy)
    doc += fmt::format(" (keys and values of {})",
                       field.inherits.empty() ? "the top level" : "'" + field.inherits + "'");
  if (!field.when.empty()) doc += fmt::format(" (with {})", field.when);
  return {field.path, type, field.value, doc};
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, characters(text)) + 2, ' ');
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

std::string schema_table(const std::vector<FieldDoc>& fields) {
  std::vector<Row> rows{{"KEY", "TYPE", "DEFAULT", "MEANING"}};
  for (const FieldDoc& field : fields) rows.push_back(row_of(field));
  // A very long cell does not push the columns of all others apart.
  std::array<std::size_t, 3> widths{};
  for (const Row& row : rows)
    for (std::size_t c = 0; c < widths.size(); ++c)
      widths[c] = std::max(widths[c], std::min<std::size_t>(44, characters(row[c])));
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < widths.size(); ++c) text += padded(row[c], widths[c]);
    text += row[3] + "\n";
  }
  return text;
}

std::string schema_markdown(const std::vector<FieldDoc>& fields) {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const FieldDoc& field : fields) {
    const Row row = row_of(field);
    const std::string value = row[2].empty() ? "" : fmt::format("`{}`", escaped(row[2]));
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", escaped(row[0]), escaped(row[1]), value, escaped(row[3]));
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
