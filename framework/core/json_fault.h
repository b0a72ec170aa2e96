// JSON files from outside: what a parser lets pass and would do harm later.
#pragma once

#include <string>
#include <string_view>

namespace attnlab {

inline constexpr int kDeepestJson = 64;  // levels; no published file comes near

// What is wrong with it, to follow the name of its file: nested deeper than that (what walks through it call
// by call needs stack for every level), or a key twice in one object (of which parsers keep the last). Empty
// if nothing; also where it is no JSON at all, which the parser says.
std::string json_fault(std::string_view json);

}  // namespace attnlab
