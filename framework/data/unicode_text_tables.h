// Unicode properties that the tokenizers of published models need. Only data/unicode_text.cpp reads them.
#pragma once

#include "data/unicode_tables.h"

namespace attnlab::unicode_tables {

// What is left of a character after NFD without non-spacing marks: one to three characters, then zeros.
struct Bare {
  char32_t code, first, second = 0, third = 0;
};

std::span<const Range> letters();  // \p{L}
std::span<const Range> marks();    // \p{Mn}
std::span<const Range> hidden();   // Cc but tab and line breaks, Cf, Co, U+FFFD
std::span<const Bare> bare();      // sorted by code

}  // namespace attnlab::unicode_tables
