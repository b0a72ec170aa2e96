// Between a YAML node and a member of a spec, whatever its type.
#pragma once

#include <string>

#include "config/fields.h"
#include "config/node.h"

namespace attnlab {

// Sets the member from the node. Returns what is wrong, or an empty text; `at` is then the node to point at.
std::string read_value(const ConfigNode& node, const ValueRef& value, const Bounds& bounds,
                       const ConfigNode*& at);
// What is wrong with the present value, or an empty text.
std::string check_value(const ValueRef& value, const Bounds& bounds);
// The member as a node: unset is null, lists are lists.
ConfigNode write_value(const ValueRef& value);
// "whole number", "list of text", "text or null", …
std::string type_name(const ValueRef& value);
// A scalar as a node, and the type's name.
ConfigNode write_scalar(const Fields::Scalar& scalar);
std::string type_name(const Fields::Scalar& scalar);

}  // namespace attnlab
