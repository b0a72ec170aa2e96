#include "core/numbered_name.h"

#include <algorithm>

namespace attnlab {

std::optional<NumberPart> number_part(const std::string& name, std::size_t from) {
  while (from < name.size()) {
    const std::size_t end = std::min(name.find('.', from), name.size());
    const std::size_t digits = std::min(name.find_first_not_of("0123456789", from), name.size());
    if (end > from && digits == end) return NumberPart{from, end};
    from = end + 1;
  }
  return {};
}

std::string without_numbers(std::string name) {
  std::optional<NumberPart> part;
  for (std::size_t from = 0; (part = number_part(name, from)); from = part->begin + 2)
    name.replace(part->begin, part->end - part->begin, "*");
  return name;
}

}  // namespace attnlab
