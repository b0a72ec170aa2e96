#include "data/doctor.h"

#include <algorithm>
#include <unordered_map>

#include "core/error.h"
#include "data/doctor_line.h"
#include "data/files.h"
#include "data/sha256.h"

namespace attnlab {
namespace {

using Lines = std::vector<std::string>;

// Collects findings, listing only the first of each sort and file.
class Notes {
 public:
  explicit Notes(DoctorReport& report, Index listed) : report_(report), listed_(listed) {}

  void add(const std::string& file, Index line, bool error, const std::string& sort,
           const std::string& details) {
    ++(error ? report_.errors : report_.warnings);
    ++report_.counts[sort];
    if (++in_file_[file + "\n" + sort] > listed_) return;
    report_.findings.push_back({file, line, error, sort, details.empty() ? sort : sort + ": " + details});
  }

 private:
  DoctorReport& report_;
  Index listed_;
  std::unordered_map<std::string, Index> in_file_;
};

// The lines of a file, its faults noted; none if it cannot be read.
Lines examined(const std::filesystem::path& path, const DoctorOptions& options, DoctorReport& report,
               Notes& notes) {
  Lines lines;
  try {
    lines = split_lines(read_bytes(path));
  } catch (const DataError& error) {
    notes.add(path.string(), 0, true, "unreadable file", error.what());
    return lines;
  }
  ++report.files;
  report.lines += static_cast<Index>(lines.size());
  if (lines.empty()) notes.add(path.string(), 0, true, "empty file", "");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto number = static_cast<Index>(i) + 1;
    for (const LineFault& fault : line_faults(lines[i], number, options.max_words)) {
      notes.add(path.string(), number, fault.error, fault.sort, fault.details);
    }
  }
  return lines;
}

void compare_counts(const TextSplit& split, const std::vector<Lines>& sides, Notes& notes) {
  for (std::size_t i = 1; i < sides.size(); ++i) {
    if (sides[i].size() == sides[0].size()) continue;
    notes.add(split.sides[i].string(), static_cast<Index>(std::min(sides[i].size(), sides[0].size())) + 1,
              true, "unequal line counts",
              join_text(sides[i].size(), " lines, but ", split.sides[0].string(), " has ", sides[0].size()));
  }
}

struct Place {
  std::string split;
  Index line;
};
// Where each line, all sides together, was seen first.
using Seen = std::unordered_map<std::string, Place>;

void find_duplicates(const TextSplit& split, const std::vector<Lines>& sides, Seen& seen, Notes& notes) {
  std::size_t count = sides[0].size();
  for (const Lines& lines : sides) count = std::min(count, lines.size());
  std::vector<std::pair<std::string, Place>> own;
  for (std::size_t i = 0; i < count; ++i) {
    Sha256 hash;
    bool empty = true;
    for (const Lines& lines : sides) {
      hash.add_field(lines[i]);
      empty = empty && lines[i].empty();
    }
    if (empty) continue;
    std::string key = hash.hex();
    const auto line = static_cast<Index>(i) + 1;
    const auto found = seen.find(key);
    if (found == seen.end()) {
      own.push_back({std::move(key), {split.name, line}});
      continue;
    }
    notes.add(split.sides[0].string(), line, false, "duplicate across splits",
              join_text("also line ", found->second.line, " of ", found->second.split));
  }
  seen.insert(own.begin(), own.end());
}

}  // namespace

DoctorReport examine_texts(const std::vector<TextSplit>& splits, const DoctorOptions& options) {
  DoctorReport report;
  Notes notes(report, options.listed);
  Seen seen;
  for (const TextSplit& split : splits) {
    std::vector<Lines> sides;
    const Index read_before = report.files;
    for (const auto& path : split.sides) sides.push_back(examined(path, options, report, notes));
    if (report.files - read_before != static_cast<Index>(split.sides.size()) || sides.empty()) continue;
    compare_counts(split, sides, notes);
    find_duplicates(split, sides, seen, notes);
  }
  return report;
}

std::string DoctorReport::text() const {
  std::string out;
  std::map<std::string, Index> listed;
  for (const Finding& finding : findings) {
    out += finding.file;
    if (finding.line > 0) out += join_text(":", finding.line);
    out += join_text(": ", finding.error ? "error" : "warning", ": ", finding.message, "\n");
    ++listed[finding.sort];
  }
  for (const auto& [sort, count] : counts) {
    if (count > listed[sort]) out += join_text("… and ", count - listed[sort], " more: ", sort, "\n");
  }
  return out + join_text(files, " files, ", lines, " lines: ", errors, " errors, ", warnings, " warnings\n");
}

}  // namespace attnlab
