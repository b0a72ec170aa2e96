// The exceptions of attnlab. Each kind has an exit code of the program; main() catches once.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace attnlab {

// Base of all. The message says what, where, and what was expected.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int exit_code = 1)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const {
    return exit_code_;
  }  // 1 runtime, 3 data, 4 diverged (2, usage or config, is ConfigError in config/)

 private:
  int exit_code_;
};

// Shapes, types or arguments that do not fit: a programming mistake or an impossible request.
struct ShapeError : Error {
  explicit ShapeError(const std::string& message) : Error(message, 1) {}
};
// A file that cannot be read or written, or holds something else than expected.
struct IoError : Error {
  explicit IoError(const std::string& message) : Error(message, 1) {}
};
// The user's corpus is wrong: which file, which line, what was expected.
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(message, 3) {}
};
// Loss or gradient became NaN or infinite.
struct DivergedError : Error {
  explicit DivergedError(const std::string& message) : Error(message, 4) {}
};

// Joins its arguments with operator<<.
template <class... Args>
std::string join_text(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

// Throws ShapeError with the joined arguments unless `condition` holds. Always on. Not for inner loops.
template <class... Args>
inline void check(bool condition, const Args&... args) {
  if (!condition) [[unlikely]]
    throw ShapeError(join_text(args...));
}

}  // namespace attnlab
