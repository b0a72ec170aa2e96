#include "train/record.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace attnlab {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Record& record) {
  Json object = Json::object();
  for (const auto& [name, value] : record.fields())
    std::visit([&object, &name = name](const auto& plain) { object[name] = plain; }, value);
  return object;
}

RecordValue value_of(const Json& json, const std::string& name, const std::string& where) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  throw IoError(where + ": '" + name + "' is a list or an object, expected a single value");
}

}  // namespace

void Record::set(const std::string& name, RecordValue value) {
  for (auto& field : fields_) {
    if (field.first == name) {
      field.second = std::move(value);
      return;
    }
  }
  fields_.emplace_back(name, std::move(value));
}

void Record::append(const Record& other, const std::string& prefix) {
  for (const auto& [name, value] : other.fields_) set(prefix + name, value);
}

const RecordValue* Record::find(std::string_view name) const {
  for (const auto& field : fields_)
    if (field.first == name) return &field.second;
  return nullptr;
}

double Record::number(std::string_view name) const {
  const RecordValue* value = find(name);
  if (value != nullptr) {
    if (const auto* real = std::get_if<double>(value)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  }
  throw IoError(join_text("'", name, value == nullptr ? "' is missing" : "' is not a number"));
}

std::string Record::text(std::string_view name) const {
  const RecordValue* value = find(name);
  const auto* held = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return held == nullptr ? "" : *held;
}

std::string to_json_line(const Record& record) {
  return to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string to_json_text(const Record& record) {
  return to_json(record).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Record parse_record(const std::string& json, const std::string& where) {
  const Json object = Json::parse(json, nullptr, false);
  if (!object.is_object()) throw IoError(where + ": expected a JSON object");
  Record record;
  for (const auto& [name, value] : object.items()) record.set(name, value_of(value, name, where));
  return record;
}

std::string to_csv_field(const RecordValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->find_first_of(",\"\n\r") == std::string::npos) return *text;
    std::string quoted = "\"";
    for (const char c : *text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
  }
  return std::visit(
      [](const auto& plain) {
        const std::string field = Json(plain).dump(-1, ' ', false, Json::error_handler_t::replace);
        return field == "null" ? std::string("nan") : field;
      },
      value);
}

}  // namespace attnlab
