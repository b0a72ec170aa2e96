// Where a piece of configuration was written: file, line and column (both from 1, columns count characters).
#pragma once

#include <memory>
#include <string>

namespace attnlab {

struct SourcePosition {
  std::shared_ptr<const std::string> file;  // as the user named it; "--set" for the command line
  int line = 0;
  int column = 0;

  // "file:line:column".
  std::string text() const {
    return (file ? *file : std::string("?")) + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
};

}  // namespace attnlab
