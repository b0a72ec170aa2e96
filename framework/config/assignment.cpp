#include "config/assignment.h"

#include <charconv>

namespace attnlab {
namespace {

// A control character, which no key holds: OPTION or NUMBER, this, the assignment.
constexpr char kSeparator = '\x1f';

}  // namespace

std::string assignment_of_option(std::string_view option, std::string_view assignment) {
  return std::string(option) + kSeparator + std::string(assignment);
}

std::string numbered_assignment(int number, std::string_view assignment) {
  return assignment_of_option(std::to_string(number), assignment);
}

std::optional<PlacedAssignment> placed_assignment(const std::string& text) {
  const std::size_t at = text.find(kSeparator);
  if (at == std::string::npos || at == 0 || at > text.find('=')) return std::nullopt;
  PlacedAssignment placed{text.substr(0, at), 1, text.substr(at + 1)};
  const char* const end = text.data() + at;
  int number = 0;
  if (const auto read = std::from_chars(text.data(), end, number); read.ec == std::errc() && read.ptr == end)
    placed.option = "--set", placed.number = number;
  return placed;
}

}  // namespace attnlab
