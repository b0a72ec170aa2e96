#include "config/text_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnlab {
namespace {

constexpr int kMostReported = 20;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the valid UTF-8 character at `begin`, or 0: no overlong forms, surrogates or code points
// above 10FFFF.
std::size_t character_length(std::string_view text, std::size_t begin) {
  const auto byte = [&](std::size_t i) {
    return begin + i < text.size() ? static_cast<unsigned char>(text[begin + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : (first & 0xF0) == 0xE0         ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

// Whether a `#` that begins a comment stands before `byte` in its line. A tab in a comment harms nobody.
bool in_comment(std::string_view line, std::size_t byte) {
  for (std::size_t i = 0; i < byte; ++i)
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return true;
  return false;
}

// What is wrong with the character at `i`, or an empty text.
std::string refusal(std::string_view text, std::size_t i, std::size_t line_begin) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte == '\t')
    return in_comment(text.substr(line_begin), i - line_begin)
               ? ""
               : "tab character; indent with spaces, and write \"\\t\" for a tab in text";
  if (byte == 0) return "NUL byte";
  if (byte == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))
    return "carriage return without a line feed";
  if (byte < 0x20 && byte != '\n' && byte != '\r') return fmt::format("control character 0x{:02X}", byte);
  if (character_length(text, i) == 0)
    return fmt::format("invalid UTF-8: byte 0x{:02X}", byte);
  return {};
}

}  // namespace

SourcePosition TextOrigin::at(std::string_view text, std::size_t byte) const {
  byte = std::min(byte, text.size());
  const std::string_view before = text.substr(0, byte);
  const auto newlines = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_begin = one_line || newlines == 0 ? 0 : before.rfind('\n') + 1;
  const std::string_view in_line = before.substr(line_begin);
  const auto continuations = std::count_if(in_line.begin(), in_line.end(), is_continuation);
  const int characters = static_cast<int>(in_line.size()) - static_cast<int>(continuations);
  if (one_line) return {file, line, column + characters};
  return {file, line + newlines, (newlines == 0 ? column : 1) + characters};
}

CheckedText check_text(std::string_view text, const TextOrigin& origin, Problems& problems) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  CheckedText checked{std::string(text)};
  std::size_t line_begin = 0;
  int reported = 0;
  for (std::size_t i = 0; i < text.size();) {
    // A binary file is wrong everywhere; twenty messages are enough, and the rest is replaced without a
    // closer look.
    const bool enough = reported >= kMostReported;
    const std::string wrong = enough && text[i] == '\t' ? "tab" : refusal(text, i, line_begin);
    if (!wrong.empty()) {
      checked.clean = false;
      checked.text[i] = static_cast<unsigned char>(text[i]) < 0x80 ? ' ' : '?';
      if (!enough) problems.add(origin.at(checked.text, i), wrong);
      ++reported;
    }
    if (text[i] == '\n') line_begin = i + 1;
    i += std::max<std::size_t>(1, character_length(text, i));
  }
  return checked;
}

}  // namespace attnlab
