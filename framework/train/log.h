// The log of a run on stderr, and a progress bar there when it is a terminal. stdout is for results.
#pragma once

#include <string>

#include "core/dtype.h"

namespace attnlab {

void log_info(const std::string& text);  // several lines make several log lines
void log_warning(const std::string& text);
void silence_log(bool silent);  // for tests: warnings too

// One line that is drawn over and over, at most five times a second; nothing where stderr is no terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // wipes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(Index done, Index total, const std::string& text);
};

}  // namespace attnlab
