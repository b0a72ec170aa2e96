// The user's command line or YAML is wrong. Exit code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace attnlab {

// The message lists all problems, one a line: `file:line:column: error: …`.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace attnlab
