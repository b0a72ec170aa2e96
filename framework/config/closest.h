// "Did you mean …?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

// Insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The known name nearest to `name`, if it is near enough to be a slip of the pen; else empty.
std::string closest_match(std::string_view name, const std::vector<std::string>& known);
// "a, b, c".
std::string join_names(const std::vector<std::string>& names);

}  // namespace attnlab
