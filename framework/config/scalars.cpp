#include "config/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace attnlab {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes leading digits off `text` and returns how many.
std::size_t take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// Decimal numbers as YAML 1.2 has them: [-+] digits [. digits] [e [-+] digits], no leading zeros.
bool is_number(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1])) return false;
  const std::size_t whole = take_digits(text);
  std::size_t fraction = 0;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole + fraction == 0) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return take_digits(text) > 0 && text.empty();
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return text;
}

bool is_infinite_or_nan(std::string_view text) {
  std::string word = lower(std::string(text));
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.erase(0, 1);
  if (!word.empty() && word[0] == '.') word.erase(0, 1);
  return word == "nan" || word == "inf" || word == "infinity";
}

// std::from_chars knows no leading plus.
template <class T>
std::errc parse(std::string_view text, T& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end != text.data() + text.size() ? std::errc::invalid_argument : error;
}

std::string wanted(const char* what, const ConfigNode& node) {
  return std::string("must be ") + what + ", found " + node.found();
}

}  // namespace

std::string read_scalar(const ConfigNode& node, bool& out) {
  const char* const what = "true or false";
  if (node.type != ConfigNode::Type::scalar || node.quoted) return wanted(what, node);
  if (node.text == "true" || node.text == "false") {
    out = node.text == "true";
    return {};
  }
  static const std::array<const char*, 6> yes{"yes", "on", "y", "true", "1", "enabled"};
  static const std::array<const char*, 6> no{"no", "off", "n", "false", "0", "disabled"};
  const std::string word = lower(node.text);
  if (std::find(yes.begin(), yes.end(), word) != yes.end()) return wanted(what, node) + "; write true";
  if (std::find(no.begin(), no.end(), word) != no.end()) return wanted(what, node) + "; write false";
  return wanted(what, node);
}

std::string read_scalar(const ConfigNode& node, std::int64_t& out) {
  if (node.type != ConfigNode::Type::scalar || node.quoted || !is_number(node.text))
    return wanted("a whole number", node);
  const std::errc error = parse(node.text, out);
  if (error == std::errc()) return {};
  if (error == std::errc::result_out_of_range)
    return "is " + node.found() + ", which does not fit in 64 bits";
  // With a fraction or an exponent: every double up to 2^53 is exact.
  double value = 0;
  if (parse(node.text, value) != std::errc() || std::abs(value) > 9007199254740992.0)
    return "is " + node.found() + ", too large for a whole number in this form; write all its digits";
  if (value != std::floor(value)) return wanted("a whole number", node);
  out = static_cast<std::int64_t>(value);
  return {};
}

std::string read_scalar(const ConfigNode& node, double& out) {
  if (node.type == ConfigNode::Type::scalar && !node.quoted && is_infinite_or_nan(node.text))
    return wanted("a finite number", node);
  if (node.type != ConfigNode::Type::scalar || node.quoted || !is_number(node.text))
    return wanted("a number", node);
  if (parse(node.text, out) != std::errc())
    return "is " + node.found() + ", too large or too small for a double";
  return {};
}

std::string read_scalar(const ConfigNode& node, std::string& out) {
  if (node.type != ConfigNode::Type::scalar) return wanted("text", node);
  out = node.text;
  return {};
}

std::string short_number(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  return fmt::format("{}", value);
}

std::string number_text(double value) {
  std::string text = short_number(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

bool looks_like_other_type(const std::string& text) {
  static const std::array<const char*, 11> words{"true", "false", "yes",  "no", "on", "off",
                                                 "y",    "n",     "null", "~",  ""};
  if (std::find(words.begin(), words.end(), lower(text)) != words.end()) return true;
  // Whatever begins like a number is quoted: dates, octal, sexagesimal and version numbers among it.
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t first = sign + (text.size() > sign && text[sign] == '.' ? 1 : 0);
  return is_infinite_or_nan(text) || (text.size() > first && is_digit(text[first]));
}

}  // namespace attnlab
