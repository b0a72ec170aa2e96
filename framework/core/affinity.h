// Which processors threads may run on.
#pragma once

namespace attnlab {

// Lets the calling thread, and processes that it starts, run on every processor that this process was given.
// An OpenMP run-time told to bind threads (OMP_PROC_BIND) has bound the first one before main(), and a
// program started from there would take that one processor for all there are.
void use_all_processors();

}  // namespace attnlab
