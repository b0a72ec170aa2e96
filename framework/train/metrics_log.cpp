#include "train/metrics_log.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "train/durable_file.h"

namespace attnlab {
namespace {

std::string csv_line(const std::vector<std::string>& columns, const Record& record) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const RecordValue* value = record.find(columns[i]);
    line += (i == 0 ? "" : ",") + (value == nullptr ? std::string() : to_csv_field(*value));
  }
  return line + "\n";
}

std::string csv_header(const std::vector<std::string>& columns) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) line += (i == 0 ? "" : ",") + to_csv_field(columns[i]);
  return line + "\n";
}

void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << text << std::flush;
  if (!out) throw IoError("cannot write " + path.string());
}

// Adds the names that are new; whether there were any.
bool add_columns(std::vector<std::string>& columns, const Record& record) {
  bool grew = false;
  for (const auto& field : record.fields()) {
    if (std::find(columns.begin(), columns.end(), field.first) != columns.end()) continue;
    columns.push_back(field.first);
    grew = true;
  }
  return grew;
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path folder, Index kept_step) : folder_(std::move(folder)) {
  std::vector<Record> records = read_records();
  std::erase_if(records, [kept_step](const Record& record) {
    return record.number("step") > static_cast<double>(kept_step);
  });
  std::string lines;
  for (const auto& record : records) {
    lines += to_json_line(record) + "\n";
    add_columns(columns_, record);
    const auto& fields = record.fields();
    if (std::any_of(fields.begin(), fields.end(),
                    [](const auto& field) { return field.first.starts_with("valid_"); }))
      last_validation_ = record;
  }
  write_durably(folder_ / "metrics.jsonl", lines);
  rewrite_csv(records);
}

void MetricsLog::write(const Record& record) {
  check(record.find("step") != nullptr, "a line of metrics needs a step");
  append_text(folder_ / "metrics.jsonl", to_json_line(record) + "\n");
  if (add_columns(columns_, record)) {
    rewrite_csv(read_records());
  } else {
    append_text(folder_ / "metrics.csv", csv_line(columns_, record));
  }
}

void MetricsLog::rewrite_csv(const std::vector<Record>& records) {
  std::string text = columns_.empty() ? std::string() : csv_header(columns_);
  for (const auto& record : records) text += csv_line(columns_, record);
  write_durably(folder_ / "metrics.csv", text);
}

// Whole lines only: what follows the last newline was cut off.
std::vector<Record> MetricsLog::read_records() const {
  const auto path = folder_ / "metrics.jsonl";
  std::vector<Record> records;
  if (!std::filesystem::exists(path)) return records;
  const std::string text = read_small_file(path, std::uint64_t{1} << 32);
  Index number = 1;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++number)
    records.push_back(parse_record(text.substr(begin, end - begin), join_text(path.string(), ":", number)));
  return records;
}

}  // namespace attnlab
