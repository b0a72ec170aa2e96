// metrics.jsonl and metrics.csv of a run: one record a line, every one with a `step`. After a resume, lines
// beyond the resumed step are cut, and so is a line that a killed run left half written.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "train/record.h"

namespace attnlab {

class MetricsLog {
 public:
  // Continues the files in `folder`, keeping lines up to and including `kept_step`. Throws IoError.
  MetricsLog(std::filesystem::path folder, Index kept_step);
  // Appends to both files. Throws IoError.
  void write(const Record& record);
  const std::vector<std::string>& columns() const { return columns_; }
  // The last line of a validation among those that were kept; empty if there was none.
  const Record& last_validation() const { return last_validation_; }

 private:
  void rewrite_csv(const std::vector<Record>& records);
  std::vector<Record> read_records() const;

  std::filesystem::path folder_;
  std::vector<std::string> columns_;
  Record last_validation_;
};

}  // namespace attnlab
