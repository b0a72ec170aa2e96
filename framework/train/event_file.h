// Event files that TensorBoard reads: numbers against steps, as records of a TFRecord file.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/record.h"

namespace attnlab {

// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

// One TFRecord: length, bytes, and a masked CRC-32C of each.
std::string tf_record(std::string_view bytes);

// Messages of tensorflow/core/util/event.proto in protocol buffers' wire format. `time` in seconds since
// 1970.
std::string version_event(double time);
std::string scalars_event(double time, std::int64_t step,
                          const std::vector<std::pair<std::string, double>>& scalars);
// What came at this step and later is void: a run that was broken off goes on from an earlier one.
std::string restart_event(double time, std::int64_t step);

class EventFile {
 public:
  // Begins a file in `folder`, which is made if need be. `first_step` above 1: the run goes on. Throws
  // IoError.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);
  // The record's numbers but its step: valid_x as valid/x, everything else as train/x. Throws IoError.
  void write(const Record& record);

 private:
  void append(const std::string& event);
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace attnlab
