#include "data/doctor_line.h"

#include "core/error.h"
#include "data/unicode.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

constexpr char32_t kByteOrderMark = U'\ufeff';

// Characters that other tools take for line breaks, so that they count lines differently.
const char* line_break_name(char32_t c) {
  if (c == U'\u2028') return "U+2028 (line separator)";
  if (c == U'\u2029') return "U+2029 (paragraph separator)";
  return c == U'\u0085' ? "U+0085 (next line)" : nullptr;
}

// Faults of single characters, each sort once a line.
std::vector<LineFault> character_faults(const std::vector<char32_t>& text, Index number) {
  std::vector<LineFault> faults;
  const auto once = [&faults](const std::string& sort, const std::string& details) {
    for (const LineFault& fault : faults) {
      if (fault.sort == sort) return;
    }
    faults.push_back({false, sort, details});
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string place = join_text("character ", i + 1);
    const char* const line_break = line_break_name(text[i]);
    if (line_break != nullptr) {
      once(line_break, place);
    } else if (text[i] == U'\r' && i + 1 == text.size()) {
      once("carriage return at the end of the line", "");
    } else if (text[i] == U'\r') {
      once("carriage return within the line", place);
    } else if (text[i] == kByteOrderMark && number == 1 && i == 0) {
      once("byte order mark at the start of the file", "");
    } else if (text[i] == kByteOrderMark) {
      once("U+FEFF (byte order mark) within the text", place);
    }
  }
  return faults;
}

}  // namespace

std::vector<LineFault> line_faults(std::string_view line, Index number, Index max_words) {
  std::vector<LineFault> faults;
  if (const std::size_t at = line.find('\0'); at != std::string_view::npos) {
    faults.push_back({true, "NUL byte", join_text("byte ", at + 1)});
  }
  if (const auto at = first_invalid_utf8(line)) {
    faults.push_back({true, "invalid UTF-8", join_text("byte ", *at + 1)});
    return faults;
  }
  const auto words = static_cast<Index>(split_at_spaces(line).size());
  if (words == 0) faults.push_back({false, "empty line", ""});
  const std::vector<char32_t> text = code_points(line);
  if (words > max_words || static_cast<Index>(text.size()) > 10 * max_words) {
    faults.push_back({false, "overlong line", join_text(words, " words, ", text.size(), " characters")});
  }
  for (LineFault& fault : character_faults(text, number)) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace attnlab
