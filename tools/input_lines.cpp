#include "input_lines.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "core/error.h"
#include "data/utf8.h"

namespace attnlab {

Index lines_at_once(Index batch) { return isatty(STDIN_FILENO) != 0 ? 1 : 32 * batch; }

std::vector<std::string> next_lines(Index count, Index done) {
  std::vector<std::string> lines;
  std::string line;
  while (static_cast<Index>(lines.size()) < count && std::getline(std::cin, line)) {
    const Index number = done + static_cast<Index>(lines.size()) + 1;
    if (line.find('\0') != std::string::npos)
      throw DataError(join_text("stdin:", number, ": NUL byte; expected plain text"));
    if (const auto at = first_invalid_utf8(line))
      throw DataError(join_text("stdin:", number, ": invalid UTF-8 at byte ", *at + 1, " of the line"));
    lines.push_back(line);
  }
  return lines;
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw IoError("stdout: cannot write");
}

}  // namespace attnlab
