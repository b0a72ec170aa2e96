// The Unicode properties that scores need: classes of characters, white space, lower case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

const char* unicode_version();  // of the classes

bool is_punctuation(char32_t code_point);  // \p{P}
bool is_symbol(char32_t code_point);       // \p{S}
bool is_number(char32_t code_point);       // \p{N}
bool is_letter(char32_t code_point);       // \p{L}
// White space as Unicode has it (White_Space).
bool is_white_space(char32_t code_point);
// Characters that are not shown: control characters but tab and line breaks, formats and private use.
bool is_hidden(char32_t code_point);
// The character taken apart (NFD), without non-spacing marks.
std::vector<char32_t> without_accents(char32_t code_point);
// Lower case of one character by itself: one or two characters.
std::vector<char32_t> lowercased(char32_t code_point);
// White space in the sense of Python's str.split(): the Unicode spaces, line and paragraph separators, and
// the control characters U+0009-D, U+001C-F, U+0085.
bool is_space(char32_t code_point);

// Pieces between white space, as views. Throws DataError for invalid UTF-8.
std::vector<std::string_view> split_at_spaces(std::string_view text);

// Full lower case, with the Greek final sigma and U+0130 as the Unicode standard has them (SpecialCasing, no
// language rules). Throws DataError for invalid UTF-8.
std::string lowercased(std::string_view text);

}  // namespace attnlab
