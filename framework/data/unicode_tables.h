// Unicode properties as sorted lists of ranges. Only data/unicode.cpp reads them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace attnlab::unicode_tables {

struct Range {
  char32_t first, last;  // inclusive
};
// Every `step`-th code point of [first, last] has a lower case `difference` away.
struct Lower {
  char32_t first, last;
  std::int32_t step, difference;
};

extern const char* const kVersion;
std::span<const Range> punctuation();  // \p{P}
std::span<const Range> symbol();       // \p{S}
std::span<const Range> number();       // \p{N}
std::span<const Range> cased();        // Cased and not Case_Ignorable
std::span<const Range> ignorable();    // Case_Ignorable
std::span<const Lower> lower();

}  // namespace attnlab::unicode_tables
