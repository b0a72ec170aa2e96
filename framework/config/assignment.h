// Assignments that do not stand on the command line as they are: the program makes them of an option, or
// hands on only some of those given. Tree takes them as it takes others, and its messages name what the user
// typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnlab {

// What `option`, such as "--beam", stands for: "decode.beam=5". Messages say "--beam:1:1".
std::string assignment_of_option(std::string_view option, std::string_view assignment);
// The --set of this number, from 1, whatever was handed on of those before it. Messages say "--set:NUMBER:…".
std::string numbered_assignment(int number, std::string_view assignment);

// The parts of either.
struct PlacedAssignment {
  std::string option;  // "--set" for a numbered one
  int number = 1;
  std::string assignment;
};
// Nothing for a plain "a.b=value".
std::optional<PlacedAssignment> placed_assignment(const std::string& text);

}  // namespace attnlab
