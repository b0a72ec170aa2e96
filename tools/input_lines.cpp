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
    if (const auto fault = plain_text_fault(line)) throw DataError(join_text("stdin:", number, ": ", *fault));
    lines.push_back(line);
  }
  return lines;
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw IoError("stdout: cannot write");
}

}  // namespace attnlab
