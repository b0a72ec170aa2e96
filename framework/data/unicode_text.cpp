// The part of data/unicode.h that takes text apart for the tokenizers of published models.
#include <algorithm>

#include "data/unicode.h"
#include "data/unicode_text_tables.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

using unicode_tables::Bare;
using unicode_tables::Range;

bool in(std::span<const Range> rows, char32_t c) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), c,
                                      [](char32_t value, const Range& row) { return value < row.first; });
  return after != rows.begin() && c <= (after - 1)->last;
}

// Hangul syllables are made of two or three letters by a rule (Unicode standard, section 3.12).
constexpr char32_t kSyllables = 0xac00, kSyllablesEnd = 0xd7a4, kLead = 0x1100, kVowel = 0x1161,
                   kTail = 0x11a7;
constexpr char32_t kVowels = 21, kTails = 28;

std::vector<char32_t> hangul_letters(char32_t c) {
  const char32_t at = c - kSyllables;
  std::vector<char32_t> letters{kLead + at / (kVowels * kTails), kVowel + at / kTails % kVowels};
  if (at % kTails != 0) letters.push_back(kTail + at % kTails);
  return letters;
}

}  // namespace

bool is_letter(char32_t c) { return in(unicode_tables::letters(), c); }
bool is_hidden(char32_t c) { return in(unicode_tables::hidden(), c); }

bool is_white_space(char32_t c) { return is_space(c) && (c < 0x1c || c > 0x1f); }

std::vector<char32_t> without_accents(char32_t c) {
  if (c < 0x80) return {c};
  if (c >= kSyllables && c < kSyllablesEnd) return hangul_letters(c);
  if (in(unicode_tables::marks(), c)) return {};
  const auto rows = unicode_tables::bare();
  const auto found = std::lower_bound(rows.begin(), rows.end(), c,
                                      [](const Bare& row, char32_t value) { return row.code < value; });
  if (found == rows.end() || found->code != c) return {c};
  std::vector<char32_t> left{found->first};
  for (const char32_t next : {found->second, found->third})
    if (next != 0) left.push_back(next);
  return left;
}

std::vector<char32_t> lowercased(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return code_points(lowercased(text));
}

}  // namespace attnlab
