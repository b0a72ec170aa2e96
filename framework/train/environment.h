// Where a run took place: program, modules, libraries, CPU, threads, state of the source repository around
// the working folder.
#pragma once

#include "train/record.h"

namespace attnlab {

// Facts that the libraries know. The program adds its own version.
Record environment_record();

// Most memory that this process ever held, in bytes.
std::int64_t peak_memory_bytes();

}  // namespace attnlab
