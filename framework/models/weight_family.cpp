#include "models/weight_family.h"

#include <charconv>

namespace attnlab {

std::string plain(bool value) { return value ? "true" : "false"; }
std::string plain(Index value) { return std::to_string(value); }
std::string plain(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

}  // namespace attnlab
