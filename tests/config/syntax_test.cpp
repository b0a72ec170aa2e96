// What is refused before any spec is asked: characters, YAML syntax, and the parts of YAML that are not
// supported.
#include <chrono>

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

TEST_CASE("Characters that no config may hold") {
  CHECK(problems_in("model:\n\twidth: 3\n") ==
        "a.yaml:2:1: error: tab character; indent with spaces, and write \"\\t\" for a tab in text");
  CHECK(problems_in("seed:\t3\n") ==
        "a.yaml:1:6: error: tab character; indent with spaces, and write \"\\t\" for a tab in text");
  CHECK(problems_in("seed: 3 #\ta comment\n#\tanother\n").empty());
  CHECK(problems_in(std::string("seed: 3\nname: a\0b\n", 17)) == "a.yaml:2:8: error: NUL byte");
  CHECK(problems_in("name: a\x04 b\n") == "a.yaml:1:8: error: control character 0x04");
  CHECK(problems_in("seed: 1\rname: b\r") ==
        "a.yaml:1:8: error: carriage return without a line feed\n"
        "a.yaml:1:16: error: carriage return without a line feed");
  CHECK(problems_in("seed: 3\r\nname: b\r\n").empty());
  CHECK(problems_in("seed: 3\r\nsede: b\r\n") ==
        "a.yaml:2:1: error: unknown key 'sede', did you mean 'seed'?");
  CHECK(problems_in("\xEF\xBB\xBFsede: 3\n") ==
        "a.yaml:1:1: error: unknown key 'sede', did you mean 'seed'?");
}

TEST_CASE("Invalid UTF-8, with the byte and its offset") {
  CHECK(problems_in("name: é\xff\nseed: x\n") ==
        "a.yaml:1:8: error: invalid UTF-8: byte 0xFF\n"
        "a.yaml:2:7: error: 'seed' must be a whole number, found 'x'");
  for (const char* bad : {"\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF8", "\xC3", "\xE2\x82"})
    CHECK(problems_in(std::string("name: ") + bad + "\n")
              .starts_with("a.yaml:1:7: error: invalid UTF-8: byte 0x"));
  for (const char* good :
       {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    CHECK(read(std::string("name: \"") + good + "\"\n").name == good);
}

TEST_CASE("Columns count characters, not bytes") {
  CHECK(problems_in("model: {\"é\": 1, sede: 3}\n") ==
        "a.yaml:1:9: error: unknown key 'model.é'\n"
        "a.yaml:1:17: error: unknown key 'model.sede'");
}

TEST_CASE("Syntax errors, and what can still be said after them") {
  CHECK(problems_in("seed: 1\n  name: b\ntrain: 5\n") ==
        "a.yaml:2:7: error: invalid YAML: unexpected ':'; text that contains ': ' needs quotes, or the line "
        "before lacks "
        "its own ':'\n"
        "a.yaml:3:8: error: 'train' must be a section, found '5'");
  CHECK(problems_in("name: a: b\nseed: x\n") ==
        "a.yaml:1:8: error: invalid YAML: unexpected ':'; text that contains ': ' needs quotes, or the line "
        "before lacks "
        "its own ':'\n"
        "a.yaml:2:7: error: 'seed' must be a whole number, found 'x'");
  CHECK(problems_in("name: \"a\" b\nseed: x\n") ==
        "a.yaml:1:11: error: invalid YAML: wrong indentation, or ':' missing after a key\n"
        "a.yaml:2:7: error: 'seed' must be a whole number, found 'x'");
  CHECK(problems_in("name: \"a\nseed: 1\n") == "a.yaml:1:7: error: invalid YAML: a quote is not closed");
  CHECK(problems_in("name: 'it''s\n") == "a.yaml:1:7: error: invalid YAML: a quote is not closed");
  CHECK(read("name: 'it''s'").name == "it's");
  CHECK(read("name: \"a \\\" b\"").name == "a \" b");
  CHECK(problems_in("name: @a\nmodel:\n  width: [1\nseed: x\n") ==
        "a.yaml:1:7: error: invalid YAML: put text that begins with this character in quotes\n"
        "a.yaml:3:10: error: 'model.width' must be a whole number, found a list\n"
        "a.yaml:4:5: error: invalid YAML: '[' without ']', or ',' missing in it");
  CHECK(problems_in("name: }\nseed: x\n") ==
        "a.yaml:1:7: error: invalid YAML: '}' or ']' without its opening bracket\n"
        "a.yaml:2:7: error: 'seed' must be a whole number, found 'x'");
  CHECK(problems_in("train: {trainable: [\"a\" \"b\"]}") ==
        "a.yaml:1:25: error: invalid YAML: '[' without ']', or ',' missing in it");
  CHECK(problems_in("name: \"\\q\"") == "a.yaml:1:10: error: invalid YAML: unknown escape character: q");
}

TEST_CASE("After a syntax error no rule across fields complains about what was lost") {
  CHECK(problems_in("model:\n  heads: 3\nname: a: b\nmodel2:\n") ==
        "a.yaml:3:8: error: invalid YAML: unexpected ':'; text that contains ': ' needs quotes, or the line "
        "before lacks "
        "its own ':'\n"
        "a.yaml:4:1: error: unknown key 'model2', did you mean 'model'?");
}

TEST_CASE("Duplicate keys") {
  CHECK(problems_in("seed: 1\nname: a\nseed: 2\n") ==
        "a.yaml:3:1: error: key 'seed' given twice, first in line 1");
  CHECK(problems_in("seed: 1\n\"seed\": 2\n") ==
        "a.yaml:2:1: error: key 'seed' given twice, first in line 1");
  CHECK(problems_in("model: {width: 1, heads: 1, width: 1}\n") ==
        "a.yaml:1:29: error: key 'width' given twice, first in line 1");
}

TEST_CASE("Parts of YAML that are not supported") {
  CHECK(
      problems_in("seed: &x 1\n") ==
      "a.yaml:1:7: error: anchors (&name) are not supported; write the value out, or share it through base:");
  CHECK(
      problems_in("name: &x a\ntrain: {from: *x}\n") ==
      "a.yaml:1:7: error: anchors (&name) are not supported; write the value out, or share it through base:\n"
      "a.yaml:2:15: error: aliases (*name) are not supported; write the value out, or share it through "
      "base:");
  CHECK(problems_in("train: {trainable: [*.norm]}\n") ==
        "a.yaml:1:21: error: a leading * starts an alias, which is not supported; put text that begins with "
        "* in quotes");
  CHECK(problems_in("<<: {seed: 1}\n") ==
        "a.yaml:1:1: error: merge keys (<<) are not supported; share values through base:");
  CHECK(problems_in("seed: !!int 1\nname: !x y\n") ==
        "a.yaml:1:7: error: tags (!name) are not supported\n"
        "a.yaml:2:7: error: tags (!name) are not supported");
  CHECK(problems_in("name: !\n") == "a.yaml:1:7: error: tags (!name) are not supported");
  CHECK(problems_in("? [a]\n: 1\n") == "a.yaml:1:3: error: a key must be text, found a list");
  CHECK(problems_in("~: 1\n") == "a.yaml:1:1: error: a key must be text, found no value");
}

TEST_CASE("One document, which is a section") {
  CHECK(problems_in("---\nseed: 1\n...\n").empty());
  CHECK(problems_in("seed: 1\n---\nseed: 2\n") ==
        "a.yaml:2:1: error: a second document starts here; a config is one document");
  CHECK(problems_in("") == "a.yaml:1:1: error: the file is empty");
  CHECK(problems_in("# nothing\n---\n") == "a.yaml:1:1: error: the file is empty");
  CHECK(problems_in("hello\n") == "a.yaml:1:1: error: a config is a section of keys, found 'hello'");
  CHECK(problems_in("- a\n") == "a.yaml:1:1: error: a config is a section of keys, found a list");
}

TEST_CASE("Nesting is bounded") {
  std::string deep, flow = "name: ";
  for (int i = 0; i < 70; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n", flow += "[";
  CHECK(problems_in(deep).find("a.yaml:65:65: error: nested deeper than 64 levels") != std::string::npos);
  CHECK(problems_in(flow + std::string(70, ']')) ==
        "a.yaml:1:7: error: 'name' must be text, found a list\n"
        "a.yaml:1:70: error: nested deeper than 64 levels");
  CHECK(problems_in(flow).find("nested deeper than 64 levels") != std::string::npos);
}

TEST_CASE("Alias bombs and other large hostile texts end at once") {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += std::string(i ? ", *" : "*") + static_cast<char>(c - 1);
    bomb += "]\n";
  }
  CHECK(problems_in(bomb).starts_with("a.yaml:1:4: error: anchors (&name) are not supported"));
  for (const char* piece : {"[", "{", "- ", "? ", "a: ", "{a: ", "&a ", "*a ", "'", "\"", "|\n", ": ", "!",
                            "%", "a:\n ", "\x80"}) {
    std::string text;
    while (text.size() < 100000) text += piece;
    CHECK_FALSE(problems_in(text).empty());
  }
}
