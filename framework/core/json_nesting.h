// JSON from outside: what walks through it call by call (a copy, its text) needs stack for every level.
#pragma once

#include <string_view>

namespace attnlab {

inline constexpr int kDeepestJson = 64;  // levels; no published file comes near

// Whether lists and objects lie deeper in each other than that. Whether it is JSON at all, a parser says.
bool nested_too_deeply(std::string_view json);

}  // namespace attnlab
