// UTF-8: checking, decoding, encoding. Code points are char32_t.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

// Takes the first code point off `text`; nothing if it is not valid UTF-8 there (overlong forms, surrogates
// and values above U+10FFFF are not). `text` must not be empty.
std::optional<char32_t> take_code_point(std::string_view& text);

// Byte offset of the first fault, or nothing.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);
// Why a line is no plain text, with the byte from 1: a NUL byte or invalid UTF-8. Nothing if it is.
std::optional<std::string> plain_text_fault(std::string_view line);

// All code points. Throws DataError if the text is not valid UTF-8.
std::vector<char32_t> code_points(std::string_view text);

// Pieces of the text, one a code point, as views. Throws DataError likewise.
std::vector<std::string_view> characters(std::string_view text);

// The text with U+FFFD for each stretch of bytes that is not valid UTF-8.
std::string with_replacements(std::string_view bytes);

void append_utf8(std::string& out, char32_t code_point);
std::string to_utf8(const std::vector<char32_t>& code_points);

}  // namespace attnlab
