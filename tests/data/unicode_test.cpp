#include "data/unicode.h"

#include "core/dtype.h"
#include "core/error.h"
#include "data/utf8.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace attnlab;

TEST_CASE("Unicode classes hold at the borders of their ranges") {
  CHECK(is_punctuation(U'!'));
  CHECK(is_punctuation(U'\u00bf'));
  CHECK(is_punctuation(U'\u3002'));
  CHECK_FALSE(is_punctuation(U'$'));
  CHECK_FALSE(is_punctuation(U'a'));
  CHECK_FALSE(is_punctuation(U'\0'));
  CHECK_FALSE(is_punctuation(U'\U0010FFFF'));
  CHECK(is_symbol(U'$'));
  CHECK(is_symbol(U'\u20ac'));
  CHECK(is_symbol(U'\U0001F600'));
  CHECK_FALSE(is_symbol(U'!'));
  CHECK(is_number(U'7'));
  CHECK(is_number(U'\u00bd'));
  CHECK(is_number(U'\u0661'));
  CHECK_FALSE(is_number(U'x'));
  CHECK(is_space(U'\u3000'));
  CHECK(is_space(U'\x1c'));
  CHECK_FALSE(is_space(U'\u200b'));
}

TEST_CASE("classes and lower case of all code points are those of sacreBLEU's libraries") {
  Index punctuation = 0, symbol = 0, number = 0, space = 0, lower = 0;
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    punctuation += is_punctuation(c);
    symbol += is_symbol(c);
    number += is_number(c);
    space += is_space(c);
    std::string text;
    append_utf8(text, c);
    for (const char32_t low : code_points(lowercased(text))) lower += static_cast<Index>(c % 1009) * low;
  }
  const nlohmann::json stored = golden("scores.json");
  const auto& expected = stored["unicode"];
  CHECK(punctuation == expected["punctuation"].get<Index>());
  CHECK(symbol == expected["symbol"].get<Index>());
  CHECK(number == expected["number"].get<Index>());
  CHECK(space == expected["space"].get<Index>());
  CHECK(lower == expected["lower"].get<Index>());
}

TEST_CASE("lower case follows the Unicode standard") {
  CHECK(lowercased("ABC \xc3\x84\xc3\x96") == "abc \xc3\xa4\xc3\xb6");
  CHECK(lowercased("\xce\x91\xce\xa3") == "\xce\xb1\xcf\x82");                  // final sigma
  CHECK(lowercased("\xce\x91\xce\xa3\xce\x91") == "\xce\xb1\xcf\x83\xce\xb1");  // not final
  CHECK(lowercased("\xce\xa3") == "\xcf\x83");                                  // alone
  CHECK(lowercased("\xc4\xb0") == "i\xcc\x87");                                 // capital I with dot
  CHECK(lowercased("\xe1\xba\x9e") == "\xc3\x9f");                              // capital sharp s
  CHECK(lowercased("\xc4\x80\xc4\x81\xc4\x82") == "\xc4\x81\xc4\x81\xc4\x83");  // every second letter
  CHECK_THROWS_AS(lowercased("\xff"), DataError);
}

TEST_CASE("splitting at Unicode spaces drops empty pieces") {
  CHECK(split_at_spaces(" a\xc2\xa0"
                        "b\t\n\xe2\x80\xa8"
                        "c ") == std::vector<std::string_view>{"a", "b", "c"});
  CHECK(split_at_spaces(" \xe3\x80\x80").empty());
  CHECK_THROWS_AS(split_at_spaces("a \xff"), DataError);
}
