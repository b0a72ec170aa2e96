// Where a module under construction puts its parameters: the set, the rule for initial values, its path, and
// which of its linear maps have adapters.
#pragma once

#include <string>

#include "nn/init.h"

namespace attnlab {

struct AdapterSpec;

struct Scope {
  ParameterSet& parameters;
  const InitSpec& init;
  std::string path;
  const AdapterSpec* adapters = nullptr;  // nullptr: none have

  Scope operator/(const std::string& part) const {
    return {parameters, init, path.empty() ? part : path + "." + part, adapters};
  }
  std::uint64_t stream() const { return stream_name(path); }  // of the module's random numbers
};

}  // namespace attnlab
