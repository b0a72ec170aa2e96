// Assignments on a command line that no --set stands before.
#pragma once

namespace attnlab {

// Throws ConfigError for a word such as b=2 in `run FILE --set a=1 b=2`, unless a file or folder has that
// name. What follows an option is its value, whatever it looks like.
void refuse_stray_assignments(int argc, char** argv);

}  // namespace attnlab
