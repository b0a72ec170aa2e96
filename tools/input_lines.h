// Lines of stdin, for commands that answer each of them.
#pragma once

#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

// How many lines to read at once: enough to put those of like length together, `batch` of which are computed
// together; a person gets an answer to each.
Index lines_at_once(Index batch);

// Up to `count` lines of stdin; `done` lines were read before. Throws DataError with the number of the line
// for NUL bytes and invalid UTF-8.
std::vector<std::string> next_lines(Index count, Index done);

// Whoever reads stdout has what was printed. Throws IoError where it cannot be written.
void flush_output();

}  // namespace attnlab
