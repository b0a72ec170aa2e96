// A flat list of named values in a fixed order: a line of metrics, a result, an environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attnlab {

using RecordValue = std::variant<bool, std::int64_t, double, std::string>;

class Record {
 public:
  Record() = default;
  Record(std::initializer_list<std::pair<std::string, RecordValue>> fields) : fields_(fields) {}

  void set(const std::string& name, RecordValue value);  // replaces the value of a name that is there
  void append(const Record& other, const std::string& prefix = "");  // sets all of the other's
  const RecordValue* find(std::string_view name) const;              // nullptr if there is none
  // A number as double. Throws IoError if the name is missing or no number.
  double number(std::string_view name) const;
  // A text; empty if the name is missing or no text.
  std::string text(std::string_view name) const;
  const std::vector<std::pair<std::string, RecordValue>>& fields() const { return fields_; }
  bool operator==(const Record&) const = default;

 private:
  std::vector<std::pair<std::string, RecordValue>> fields_;
};

// One line of JSON; NaN and infinity become null.
std::string to_json_line(const Record& record);
// JSON over several lines, for people.
std::string to_json_text(const Record& record);
// The reverse; null becomes NaN. Throws IoError, with `where` in front, for anything but a flat object.
Record parse_record(const std::string& json, const std::string& where);
// The value as a CSV field.
std::string to_csv_field(const RecordValue& value);

}  // namespace attnlab
