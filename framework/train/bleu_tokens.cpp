#include "train/bleu_tokens.h"

#include "data/unicode.h"
#include "data/utf8.h"

namespace attnlab {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }
// ASCII punctuation that 13a always splits off: all but the apostrophe, comma, hyphen and full stop.
bool is_always_split(char c) {
  return (c > ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Goes through the text in pairs of neighbours that do not overlap: `fits(a, b)` says which pairs are
// rewritten as `before` a `between` b `after`.
template <class Text, class Fits>
Text rewrite_pairs(const Text& text, Fits fits, bool before, bool after) {
  Text out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fits(text[i], text[i + 1])) {
      out.push_back(text[i]);
      continue;
    }
    if (before) out.push_back(' ');
    out.push_back(text[i]);
    out.push_back(' ');
    out.push_back(text[++i]);
    if (after) out.push_back(' ');
  }
  return out;
}

// Works on bytes: every rule speaks of ASCII, and the bytes of other characters are neither digits nor stops.
std::string thirteen_a(std::string_view line) {
  std::string text = " " + std::string(line) + " ";
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  std::string spaced;
  for (const char c : text) {
    if (is_always_split(c)) {
      spaced += {' ', c, ' '};
    } else {
      spaced += c;
    }
  }
  // Stops go off unless a digit is before; unless a digit is behind; hyphens go off behind a digit.
  spaced = rewrite_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_stop(b); }, false, true);
  spaced = rewrite_pairs(
      spaced, [](char a, char b) { return is_stop(a) && !is_digit(b); }, true, false);
  return rewrite_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, false, true);
}

std::string international(std::string_view line) {
  std::vector<char32_t> text = code_points(line);
  text = rewrite_pairs(
      text, [](char32_t a, char32_t b) { return !is_number(a) && is_punctuation(b); }, false, true);
  text = rewrite_pairs(
      text, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); }, true, false);
  std::vector<char32_t> spaced;
  for (const char32_t c : text) {
    if (is_symbol(c)) {
      spaced.insert(spaced.end(), {U' ', c, U' '});
    } else {
      spaced.push_back(c);
    }
  }
  return to_utf8(spaced);
}

std::string spaced_characters(std::string_view line) {
  std::string text;
  for (const std::string_view c : characters(line)) {
    text += c;
    text += ' ';
  }
  return text;
}

std::string_view without_trailing_space(std::string_view line) {
  const std::vector<std::string_view> pieces = split_at_spaces(line);
  if (pieces.empty()) return {};
  return line.substr(0, static_cast<std::size_t>(pieces.back().data() + pieces.back().size() - line.data()));
}

}  // namespace

const char* to_string(BleuTokens tokens) {
  switch (tokens) {
    case BleuTokens::thirteen_a:
      return "13a";
    case BleuTokens::intl:
      return "intl";
    case BleuTokens::character:
      return "char";
    case BleuTokens::none:
      break;
  }
  return "none";
}

std::vector<std::string> bleu_tokens(BleuTokens tokens, std::string_view line) {
  line = without_trailing_space(line);
  std::string text;
  switch (tokens) {
    case BleuTokens::thirteen_a:
      text = thirteen_a(line);
      break;
    case BleuTokens::intl:
      text = international(line);
      break;
    case BleuTokens::character:
      text = spaced_characters(line);
      break;
    case BleuTokens::none:
      text = line;
      break;
  }
  const std::vector<std::string_view> pieces = split_at_spaces(text);
  return {pieces.begin(), pieces.end()};
}

}  // namespace attnlab
