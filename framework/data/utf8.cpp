#include "data/utf8.h"

#include "core/error.h"

namespace attnlab {
namespace {

// Number of bytes and the payload of a leading byte; zero bytes if it cannot lead.
struct Lead {
  int bytes;
  char32_t payload;
};
Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte};
  if (byte >= 0xc2 && byte < 0xe0) return {2, byte & 0x1fU};
  if (byte >= 0xe0 && byte < 0xf0) return {3, byte & 0x0fU};
  if (byte >= 0xf0 && byte < 0xf5) return {4, byte & 0x07U};
  return {0, 0};
}

// Whether more bytes could make these a character.
bool begins_character(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  if (static_cast<std::size_t>(lead_of(first).bytes) <= bytes.size()) return false;
  for (const char byte : bytes.substr(1))
    if ((static_cast<unsigned char>(byte) & 0xc0U) != 0x80U) return false;
  return !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
         !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
}

}  // namespace

std::optional<char32_t> take_code_point(std::string_view& text) {
  auto [bytes, value] = lead_of(static_cast<unsigned char>(text.front()));
  if (bytes == 0 || text.size() < static_cast<std::size_t>(bytes)) return std::nullopt;
  for (int i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if ((byte & 0xc0U) != 0x80U) return std::nullopt;
    value = (value << 6) | (byte & 0x3fU);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(bytes));
  return value;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!take_code_point(rest)) return text.size() - rest.size();
  }
  return std::nullopt;
}

std::optional<std::string> plain_text_fault(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) return "NUL byte; expected plain text";
  const auto at = first_invalid_utf8(line);
  return at ? std::optional(join_text("invalid UTF-8 at byte ", *at + 1, " of the line")) : std::nullopt;
}

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> out;
  out.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto value = take_code_point(rest);
    if (!value) throw DataError(join_text("invalid UTF-8 at byte ", text.size() - rest.size() + 1));
    out.push_back(*value);
  }
  return out;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  out.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view before = rest;
    if (!take_code_point(rest)) {
      throw DataError(join_text("invalid UTF-8 at byte ", text.size() - rest.size() + 1));
    }
    out.push_back(before.substr(0, before.size() - rest.size()));
  }
  return out;
}

std::string with_replacements(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::string_view before = bytes;
    if (take_code_point(bytes)) {
      out += before.substr(0, before.size() - bytes.size());
      continue;
    }
    // The longest part that could begin a character counts as one fault (Unicode standard, section 3.9).
    std::size_t length = 1;
    while (length < before.size() && length < 4 && begins_character(before.substr(0, length + 1))) ++length;
    out += "\xef\xbf\xbd";
    bytes.remove_prefix(length);
  }
  return out;
}

void append_utf8(std::string& out, char32_t value) {
  const auto tail = [&out, value](int shift) {
    out.push_back(static_cast<char>(0x80U | ((value >> shift) & 0x3fU)));
  };
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out.push_back(static_cast<char>(0xc0U | (value >> 6)));
    tail(0);
  } else if (value < 0x10000) {
    out.push_back(static_cast<char>(0xe0U | (value >> 12)));
    tail(6), tail(0);
  } else {
    out.push_back(static_cast<char>(0xf0U | (value >> 18)));
    tail(12), tail(6), tail(0);
  }
}

std::string to_utf8(const std::vector<char32_t>& values) {
  std::string out;
  for (const char32_t value : values) append_utf8(out, value);
  return out;
}

}  // namespace attnlab
