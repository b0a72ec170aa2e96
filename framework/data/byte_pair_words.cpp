// GPT-2's pattern, written out.
#include "core/error.h"
#include "data/byte_pairs.h"
#include "data/unicode.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

enum class Sort { space, letter, number, other };

Sort sort_of(char32_t c) {
  if (is_white_space(c)) return Sort::space;
  if (is_letter(c)) return Sort::letter;
  return is_number(c) ? Sort::number : Sort::other;
}

// A stretch of text: the byte where each character begins, and its sort.
struct Stretch {
  std::string_view text;
  std::vector<std::size_t> at;
  std::vector<Sort> sorts;

  std::size_t size() const { return sorts.size(); }
  std::string_view view(std::size_t begin, std::size_t end) const {
    const std::size_t stop = end < size() ? at[end] : text.size();
    return text.substr(at[begin], stop - at[begin]);
  }
  std::size_t end_of_run(std::size_t i) const {
    const Sort sort = sorts[i];
    while (i < size() && sorts[i] == sort) ++i;
    return i;
  }
};

Stretch stretch_of(std::string_view text) {
  Stretch stretch{text, {}, {}};
  std::string_view rest = text;
  while (!rest.empty()) {
    stretch.at.push_back(text.size() - rest.size());
    const auto c = take_code_point(rest);
    if (!c) throw DataError(join_text("invalid UTF-8 at byte ", stretch.at.back() + 1));
    stretch.sorts.push_back(sort_of(*c));
  }
  return stretch;
}

std::size_t contraction_at(std::string_view text) {
  if (text.empty() || text.front() != '\'') return 0;
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

// Where the word that begins at character i ends.
std::size_t end_of_word(const Stretch& s, std::size_t i) {
  if (const std::size_t length = contraction_at(s.text.substr(s.at[i]))) return i + length;
  const bool blank = s.text[s.at[i]] == ' ';
  if (blank && i + 1 < s.size() && s.sorts[i + 1] != Sort::space) return s.end_of_run(i + 1);
  const std::size_t end = s.end_of_run(i);
  if (s.sorts[i] != Sort::space || end == s.size() || end == i + 1) return end;
  return end - 1;  // the last space goes with the word behind it, or stands alone
}

void add_words(std::string_view text, std::vector<std::string_view>& words) {
  const Stretch stretch = stretch_of(text);
  for (std::size_t i = 0; i < stretch.size();) {
    const std::size_t end = end_of_word(stretch, i);
    words.push_back(stretch.view(i, end));
    i = end;
  }
}

}  // namespace

std::vector<std::string_view> byte_pair_words(std::string_view text, bool single_digits) {
  std::vector<std::string_view> words;
  if (!single_digits) {
    add_words(text, words);
    return words;
  }
  const Stretch stretch = stretch_of(text);
  for (std::size_t i = 0; i < stretch.size();) {
    std::size_t end = i + 1;
    if (stretch.sorts[i] == Sort::number) {
      words.push_back(stretch.view(i, end));
    } else {
      while (end < stretch.size() && stretch.sorts[end] != Sort::number) ++end;
      add_words(stretch.view(i, end), words);
    }
    i = end;
  }
  return words;
}

}  // namespace attnlab
