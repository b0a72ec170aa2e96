// What the data doctor sees in a single line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

struct LineFault {
  bool error = false;
  std::string sort;     // what is counted together
  std::string details;  // may be empty
};

// The faults of line `number` (from 1), without its line feed.
std::vector<LineFault> line_faults(std::string_view line, Index number, Index max_words);

}  // namespace attnlab
