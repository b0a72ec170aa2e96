// Everything wrong with a configuration, collected so that all of it is reported at once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/position.h"

namespace attnlab {

class Problems {
 public:
  // The same message at the same place is kept once; after the first hundred they are only counted.
  void add(const SourcePosition& position, const std::string& message);
  void add(const Problems& others);
  bool empty() const { return problems_.empty(); }
  bool full() const;  // further messages are only counted
  // `file:line:column: error: message` lines, files in the order given, then by line and column.
  std::string text(const std::vector<std::string>& file_order) const;

 private:
  struct Problem {
    SourcePosition position;
    std::string message;
  };
  std::vector<Problem> problems_;
  std::set<std::string> seen_;
};

}  // namespace attnlab
