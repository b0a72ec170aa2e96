// What no configuration text may contain, whatever YAML says: tabs, NUL and other control characters, invalid
// UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "config/problems.h"

namespace attnlab {

// Where a text comes from: its name, and the line and column of its first character.
struct TextOrigin {
  std::shared_ptr<const std::string> file;
  int line = 1;
  int column = 1;
  bool one_line = false;  // every position is in `line`, as on a command line

  // The position of a byte, counted in characters.
  SourcePosition at(std::string_view text, std::size_t byte) const;
};

struct CheckedText {
  std::string text;   // without a byte-order mark; every refused byte replaced by one that keeps positions
  bool clean = true;  // nothing was refused
};

CheckedText check_text(std::string_view text, const TextOrigin& origin, Problems& problems);

}  // namespace attnlab
