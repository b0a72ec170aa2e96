#include "study/probe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "study/npz.h"

namespace attnlab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const RecordValue& value) {
  if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number))
    return nullptr;
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json json_of(const Record& record) {
  Json json = Json::object();
  for (const auto& [name, value] : record.fields()) json[name] = json_of(value);
  return json;
}

Json json_of(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json line = Json::array();
    for (const RecordValue& value : row) line.push_back(json_of(value));
    rows.push_back(std::move(line));
  }
  return {{"columns", table.columns}, {"rows", std::move(rows)}};
}

std::string cell(const RecordValue& value) {
  if (const auto* number = std::get_if<double>(&value))
    return std::isnan(*number) ? "-" : fmt::format("{:.4g}", *number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return std::get<std::string>(value);
}

std::string to_text(const Table& table, std::size_t most_rows) {
  std::vector<std::vector<std::string>> lines{table.columns};
  const std::size_t shown = std::min(most_rows, table.rows.size());
  for (std::size_t row = 0; row < shown; ++row) {
    lines.emplace_back();
    for (const RecordValue& value : table.rows[row]) lines.back().push_back(cell(value));
  }
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text += i + 1 == line.size() ? line[i] : fmt::format("{:<{}}  ", line[i], widths[i]);
    text += "\n";
  }
  if (shown < table.rows.size()) text += fmt::format("… {} rows more\n", table.rows.size() - shown);
  return text;
}

}  // namespace

std::string to_json_text(const ProbeResult& result, const Record& about) {
  Json json{{"about", json_of(about)}, {"numbers", json_of(result.numbers)}, {"tables", Json::object()}};
  for (const Table& table : result.tables) json["tables"][table.name] = json_of(table);
  json["notes"] = result.notes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const ProbeResult& result, std::size_t most_rows) {
  std::string text;
  for (const Table& table : result.tables) text += to_text(table, most_rows);
  for (const std::string& note : result.notes) text += note + "\n";
  return text;
}

void write_probe(const std::filesystem::path& folder, const std::string& name, const ProbeResult& result,
                 const Record& about) {
  if (!result.arrays.empty()) write_npz(folder / (name + ".npz"), result.arrays);
  write_file(folder / (name + ".json"), to_json_text(result, about));
}

}  // namespace attnlab
