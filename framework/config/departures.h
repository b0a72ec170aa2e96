// What a spec is by its values alone.
#pragma once

#include "config/spec.h"

namespace attnlab {

std::string write_departures(const DescribeSpec& standard, const DescribeSpec& own);

// YAML with the keys whose values are not the defaults: equal texts if and only if the values are equal, and
// the same text after a key was added with a default. Not after a default has changed. Inheriting sections
// and kinds are told by their values, too; it is not meant to be read back.
template <class Spec>
std::string write_departures(const Spec& spec) {
  const Spec standard;
  return write_departures(fields_of(standard), fields_of(spec));
}

}  // namespace attnlab
