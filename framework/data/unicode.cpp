#include "data/unicode.h"

#include <algorithm>

#include "core/error.h"
#include "data/unicode_tables.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

using unicode_tables::Lower;
using unicode_tables::Range;

// The range that could hold the code point, or null.
template <class Row>
const Row* find_range(std::span<const Row> rows, char32_t c) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), c,
                                      [](char32_t value, const Row& row) { return value < row.first; });
  if (after == rows.begin() || (after - 1)->last < c) return nullptr;
  return &*(after - 1);
}

bool in(std::span<const Range> rows, char32_t c) { return find_range(rows, c) != nullptr; }

constexpr char32_t kSigma = U'\u03a3', kSmallSigma = U'\u03c3', kFinalSigma = U'\u03c2';

// The Final_Sigma condition: a cased letter before, none after, ignorable characters aside.
bool is_final_sigma(const std::vector<char32_t>& text, std::size_t at) {
  const auto cased_beyond = [&text](std::size_t i, int step) {
    while (i < text.size() && in(unicode_tables::ignorable(), text[i])) i += static_cast<std::size_t>(step);
    return i < text.size() && in(unicode_tables::cased(), text[i]);  // going below 0 wraps beyond the end
  };
  return cased_beyond(at - 1, -1) && !cased_beyond(at + 1, 1);
}

char32_t lower(char32_t c) {
  const Lower* const row = find_range(unicode_tables::lower(), c);
  if (row == nullptr || (c - row->first) % static_cast<char32_t>(row->step) != 0) return c;
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + row->difference);
}

}  // namespace

const char* unicode_version() { return unicode_tables::kVersion; }
bool is_punctuation(char32_t c) { return in(unicode_tables::punctuation(), c); }
bool is_symbol(char32_t c) { return in(unicode_tables::symbol(), c); }
bool is_number(char32_t c) { return in(unicode_tables::number(), c); }

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::string_view rest = text;
  std::size_t begin = 0;
  const auto finish = [&pieces, &begin, text](std::size_t end) {
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
  };
  while (!rest.empty()) {
    const std::size_t at = text.size() - rest.size();
    const auto c = take_code_point(rest);
    if (!c) throw DataError(join_text("invalid UTF-8 at byte ", at + 1));
    if (!is_space(*c)) continue;
    finish(at);
    begin = text.size() - rest.size();
  }
  finish(text.size());
  return pieces;
}

std::string lowercased(std::string_view text) {
  const std::vector<char32_t> in_text = code_points(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < in_text.size(); ++i) {
    if (in_text[i] == kSigma) {
      append_utf8(out, is_final_sigma(in_text, i) ? kFinalSigma : kSmallSigma);
    } else if (in_text[i] == U'\u0130') {  // capital I with dot: i and a combining dot above
      out += "i\xcc\x87";
    } else {
      append_utf8(out, lower(in_text[i]));
    }
  }
  return out;
}

}  // namespace attnlab
