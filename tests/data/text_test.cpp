#include <zlib.h>

#include <filesystem>

#include "core/error.h"
#include "data/files.h"
#include "data/sha256.h"
#include "data/utf8.h"
#include "data/vocabulary.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

TEST_CASE("sha256 gives the known digests") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (const std::size_t length : {55, 56, 63, 64, 65, 119, 120}) {
    Sha256 piecewise;
    for (std::size_t i = 0; i < length; ++i) piecewise.add("x");
    CHECK(piecewise.hex() == sha256_hex(std::string(length, 'x')));
  }
}

TEST_CASE("UTF-8 is checked strictly") {
  CHECK_FALSE(first_invalid_utf8("plain, gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80"));
  CHECK(first_invalid_utf8("ab\xc3") == 2);            // cut off
  CHECK(first_invalid_utf8("\xc0\x80") == 0);          // overlong
  CHECK(first_invalid_utf8("\xe0\x80\xaf") == 0);      // overlong
  CHECK(first_invalid_utf8("\xf0\x80\x80\xaf") == 0);  // overlong
  CHECK(first_invalid_utf8("x\xed\xa0\x80") == 1);     // surrogate
  CHECK(first_invalid_utf8("\xf4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(first_invalid_utf8("\xff") == 0);
  CHECK(first_invalid_utf8("\x80") == 0);
  for (const char32_t value : {U'a', U'\u00fc', U'\u20ac', U'\U0001F600', U'\U0010FFFF'}) {
    std::string text;
    append_utf8(text, value);
    CHECK(code_points(text) == std::vector<char32_t>{value});
  }
  CHECK_THROWS_AS(code_points("\xff"), DataError);
}

TEST_CASE("lines are split at line feeds alone") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "a.txt";
  write_file(path, "one\ntwo\xe2\x80\xa8still two\r\n\nlast\xc2\x85 without end");
  CHECK(read_lines(path) ==
        std::vector<std::string>{"one", "two\xe2\x80\xa8still two\r", "", "last\xc2\x85 without end"});
  write_file(path, "");
  CHECK(read_lines(path).empty());
  write_file(path, "\n");
  CHECK(read_lines(path) == std::vector<std::string>{""});
}

TEST_CASE("broken text files name file and line") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "bad.txt";
  write_file(path,
             "good\nb\xff"
             "d\n");
  CHECK_THROWS_WITH(read_lines(path), path.string() + ":2: invalid UTF-8 at byte 2 of the line");
  write_file(path, std::string("a\nb\nc\0d\n", 8));
  CHECK_THROWS_WITH(read_lines(path), path.string() + ":3: NUL byte; expected plain text");
  CHECK_THROWS_AS(read_lines(scratch.path() / "absent"), DataError);
  CHECK_THROWS_AS(read_lines(scratch.path()), DataError);
}

TEST_CASE("gzip files are unpacked, damaged ones refused") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "a.gz";
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  CHECK(read_bytes(path) == text);
  CHECK(find_plain_or_gz(scratch.path() / "a") == path);
  CHECK_THROWS_AS(find_plain_or_gz(scratch.path() / "b"), DataError);
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size / 2);
  const std::string unread = "damaged or truncated after ";
  try {
    read_bytes(path);
    FAIL("a damaged file was read");
  } catch (const DataError& error) {  // says its name once
    const std::string what = error.what();
    CHECK(what.starts_with(path.string() + ": " + unread));
    CHECK(what.find(path.string(), 1) == std::string::npos);
  }
}

TEST_CASE("write_file replaces in one step and keeps the old file when it fails") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "deep" / "er" / "file";
  write_file(path, "old");
  write_file(path, "new");
  CHECK(read_bytes(path) == "new");
  CHECK_THROWS_AS(write_file(path / "under-a-file", "x"), IoError);
  CHECK(read_bytes(path) == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("word vocabularies count, cut and round-trip") {
  const std::vector<std::string> lines{"b a b", " c\tb  a d", "<s> </s> <unk>"};
  const Vocabulary all = Vocabulary::learn(TokenUnit::word, lines, 1, 0);
  CHECK(all.size() == 7);
  CHECK(all.piece(3) == "b");  // most frequent
  CHECK(all.piece(4) == "a");
  CHECK(all.piece(5) == "c");  // equal counts by bytes
  const std::vector<Token> ids = all.encode("  d b\tz </s>");
  CHECK(ids == std::vector<Token>{6, 3, all.unk(), all.unk()});
  CHECK(all.decode(std::vector<Token>{1, 6, 3, 0, 2}) == "d b <unk>");
  CHECK(Vocabulary::learn(TokenUnit::word, lines, 2, 0).size() == 5);
  CHECK(Vocabulary::learn(TokenUnit::word, lines, 1, 1).size() == 4);
  const Vocabulary again = Vocabulary::parse(all.serialized());
  CHECK(again.serialized() == all.serialized());
  CHECK(again.name() == "word");
  CHECK_THROWS_AS(all.piece(7), DataError);
  CHECK_THROWS_AS(all.piece(-1), DataError);
}

TEST_CASE("words of backslashes are kept apart from each other and from line breaks") {
  const std::string line = R"(\ \\ \n \\n \\\ x)";
  const Vocabulary words = Vocabulary::learn(TokenUnit::word, {line}, 1, 0);
  CHECK(words.size() == 9);
  const Vocabulary again = Vocabulary::parse(words.serialized());
  CHECK(again.encode(line) == words.encode(line));
  CHECK(again.decode(again.encode(line)) == line);
  // Files that were written before words of backslashes were told apart.
  const Vocabulary old = Vocabulary::parse("attnlab vocabulary 1 character\n<unk>\n<s>\n</s>\n\\n\n\\\\\n");
  CHECK(old.encode("\n\\") == std::vector<Token>{3, 4});
}

TEST_CASE("character vocabularies keep spaces, line breaks and every code point") {
  const std::vector<std::string> lines{"a \xc3\xbc\n", "\\ a"};
  const Vocabulary letters = Vocabulary::learn(TokenUnit::character, lines, 1, 0);
  CHECK(letters.size() == 8);
  const Vocabulary again = Vocabulary::parse(letters.serialized());
  for (const std::string& line : lines) {
    CHECK(letters.decode(letters.encode(line)) == line);
    CHECK(again.encode(line) == letters.encode(line));
  }
  CHECK(letters.encode("z") == std::vector<Token>{0});
}

TEST_CASE("damaged vocabulary files are refused") {
  CHECK_THROWS_AS(Vocabulary::parse(""), DataError);
  CHECK_THROWS_AS(Vocabulary::parse("<unk>\n<s>\n</s>\na\n"), DataError);
  CHECK_THROWS_AS(Vocabulary::parse("attnlab vocabulary 1 word\n<s>\n<unk>\n</s>\n"), DataError);
  CHECK_THROWS_AS(Vocabulary::parse("attnlab vocabulary 1 word\n<unk>\n<s>\n</s>\na\na\n"), DataError);
  CHECK_THROWS_AS(Vocabulary::parse("attnlab vocabulary 1 syllable\n<unk>\n<s>\n</s>\n"), DataError);
}
