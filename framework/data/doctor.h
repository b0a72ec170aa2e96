// The data doctor: looks through text files for what spoils training or scoring, and says where. Errors are
// what a run would refuse; warnings are what it would take, probably not as meant.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// The files of one split: one, or several sides whose lines belong together.
struct TextSplit {
  std::string name;
  std::vector<std::filesystem::path> sides;
};

struct DoctorOptions {
  Index max_words = 256;  // a longer line is overlong, as is one of ten times as many characters
  Index listed = 10;      // findings of one sort that are listed for each file
};

struct Finding {
  std::string file;
  Index line = 0;  // counted from 1; 0: the whole file
  bool error = false;
  std::string sort;     // "empty line"
  std::string message;  // "empty line", perhaps with more
};

struct DoctorReport {
  std::vector<Finding> findings;        // the first of each sort and file, in order of file and line
  std::map<std::string, Index> counts;  // of all, by sort
  Index files = 0, lines = 0, errors = 0, warnings = 0;
  // One line a finding, `file:line: error: …`, then what was not listed, then a summary.
  std::string text() const;
};

// Looks for: missing, damaged and empty files; invalid UTF-8, NUL bytes; sides of unequal length; empty,
// overlong lines; CR, byte order marks, U+2028, U+2029, U+0085; lines (of all sides together) that stand in
// two splits.
DoctorReport examine_texts(const std::vector<TextSplit>& splits, const DoctorOptions& options);

}  // namespace attnlab
