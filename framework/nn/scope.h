// Where a module under construction puts its parameters: the set, the rule for initial values, and its path.
#pragma once

#include <string>

#include "nn/init.h"

namespace attnlab {

struct Scope {
  ParameterSet& parameters;
  const InitSpec& init;
  std::string path;

  Scope operator/(const std::string& part) const {
    return {parameters, init, path.empty() ? part : path + "." + part};
  }
  std::uint64_t stream() const { return stream_name(path); }  // of the module's random numbers
};

}  // namespace attnlab
