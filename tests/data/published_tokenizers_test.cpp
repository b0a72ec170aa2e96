// Published kinds of tokenizers on hostile text, against the packages tokenizers and sentencepiece; values
// made by tests/golden/tokenizers.py.
#include <nlohmann/json.hpp>

#include "config/registry.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/byte_pairs.h"
#include "data/files.h"
#include "data/llama2c_vocabulary.h"
#include "data/subword.h"
#include "data/tokenizer_spec.h"
#include "data/unicode.h"
#include "data/utf8.h"
#include "data/word_pieces.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

struct Holder {
  std::shared_ptr<TokenizerSpec> tokenizer;
  void fields(Fields& f) { f.kind("tokenizer", tokenizer, "test"); }
};

std::shared_ptr<TokenizerSpec> spec_of(const std::string& kind, const std::string& path) {
  Holder holder;
  read_spec(Tree::parse("tokenizer: {kind: " + kind + ", path: " + path + "}"), holder);
  return holder.tokenizer;
}

std::shared_ptr<const Tokenizer> published(const std::string& kind, const std::string& folder) {
  const std::string path = std::string(ATTNLAB_SOURCE_DIR) + "/tests/golden/tokenizers/" + folder;
  return learned_tokenizer(*spec_of(kind, path), {}, {});
}

struct Case {
  const char *kind, *folder;
};
const Case kCases[] = {{"byte_pairs", "byte_pairs"},
                       {"byte_pairs", "single_digits"},
                       {"word_pieces", "lowercase"},
                       {"word_pieces", "cased"},
                       {"sentence_piece", "sentence_piece"}};

}  // namespace

TEST_CASE("ids of hostile text are those of the packages", "[golden]") {
  const auto reference = golden("tokenizers/ids.json");
  for (const Case& item : kCases) {
    const auto tokenizer = published(item.kind, item.folder);
    for (std::size_t i = 0; i < reference["lines"].size(); ++i) {
      const std::string line = reference["lines"][i];
      INFO(item.folder << ", line " << i << ": " << line.substr(0, 80));
      CHECK(tokenizer->encode(line) == reference[item.folder][i].get<std::vector<Token>>());
    }
  }
}

TEST_CASE("byte pairs give every text back") {
  const auto tokenizer = published("byte_pairs", "byte_pairs");
  const auto ids = golden("tokenizers/ids.json");
  for (const std::string line : ids["lines"]) CHECK(tokenizer->decode(tokenizer->encode(line)) == line);
  const Token half = tokenizer->encode("\xc3\xa9").front();  // maybe one byte of two
  CHECK_FALSE(first_invalid_utf8(tokenizer->decode(std::vector<Token>{half})));
  CHECK_THROWS_AS(tokenizer->encode("a\xff"), DataError);
  CHECK_THROWS_AS(tokenizer->piece(100000), DataError);
}

TEST_CASE("published tokenizers are kept in a run folder and read from there") {
  for (const Case& item : kCases) {
    const ScratchFolder scratch;
    const auto tokenizer = published(item.kind, item.folder);
    save_tokenizer(scratch.path(), "target", *tokenizer);
    const auto again = load_tokenizer(scratch.path(), "target");
    CHECK(again->serialized() == tokenizer->serialized());
    CHECK(again->encode("It's 42 na\xc3\xafve") == tokenizer->encode("It's 42 na\xc3\xafve"));
    CHECK(again->bos() == tokenizer->bos());
    CHECK(again->eos() == tokenizer->eos());
    CHECK(again->decode(std::vector<Token>{again->eos()}).empty());
  }
}

TEST_CASE("published tokenizers are read back from the files that they are published as") {
  const auto ids = golden("tokenizers/ids.json");
  for (const Case& item : kCases) {
    INFO(item.folder);
    const ScratchFolder scratch;
    const auto tokenizer = published(item.kind, item.folder);
    for (const auto& [name, bytes] : tokenizer->published_files()) write_file(scratch.path() / name, bytes);
    const auto again = learned_tokenizer(*spec_of(item.kind, scratch.path().string()), {}, {});
    CHECK(again->serialized() == tokenizer->serialized());
    for (const std::string line : ids["lines"]) CHECK(again->encode(line) == tokenizer->encode(line));
  }
}

TEST_CASE("word pieces: case, accents and ideographs as tokenizer_config.json says") {
  const ScratchFolder scratch;
  write_file(scratch.path() / "vocab.txt",
             "[UNK]\n[CLS]\n[SEP]\nna\xc3\xafve\nnaive\nNa\xc3\xafve\nNaive\n"
             "\xe4\xb8\xad\n\xe6\x96\x87\n\xe4\xb8\xad\xe6\x96\x87\n");
  const std::string line = "Na\xc3\xafve \xe4\xb8\xad\xe6\x96\x87";
  const auto learned = [&scratch](const std::string& settings) {
    write_file(scratch.path() / "tokenizer_config.json", settings);
    return learned_tokenizer(*spec_of("word_pieces", scratch.path().string()), {}, {});
  };
  const auto ids = [&learned, &line](const std::string& settings) {
    const auto tokenizer = learned(settings);
    const std::vector<Token> found = tokenizer->encode(line);
    CHECK(WordPieces(WordPieces::parse(tokenizer->serialized())).encode(line) == found);
    CHECK(learned(tokenizer->published_files().back().second)->encode(line) == found);
    return found;
  };
  using Ids = std::vector<Token>;
  CHECK(ids("{}") == Ids{4, 7, 8});
  CHECK(ids(R"({"do_lower_case": true, "strip_accents": null})") == Ids{4, 7, 8});
  CHECK(ids(R"({"strip_accents": false})") == Ids{3, 7, 8});
  CHECK(ids(R"({"do_lower_case": false})") == Ids{5, 7, 8});
  CHECK(ids(R"({"do_lower_case": false, "strip_accents": true})") == Ids{6, 7, 8});
  CHECK(ids(R"({"tokenize_chinese_chars": false})") == Ids{4, 9});
  // Vocabularies of runs that are there say this much and no more.
  CHECK(learned("{}")->serialized().starts_with("attnlab word pieces 1 lowercase\n"));
  CHECK(learned(R"({"do_lower_case": false})")->serialized().starts_with("attnlab word pieces 1 cased\n"));
  const auto error_of = [&learned](const std::string& settings) -> std::string {
    try {
      learned(settings);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(error_of("[]").find("tokenizer_config.json is damaged") != std::string::npos);
  CHECK(error_of("{\"do").find("tokenizer_config.json is damaged") != std::string::npos);
  CHECK(error_of(R"({"strip_accents": 1})").find("strip_accents is not true or false") != std::string::npos);
}

TEST_CASE("published files are read as they are now, not as a cache remembers them") {
  const ScratchFolder scratch;
  write_file(scratch.path() / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
  const auto spec = spec_of("word_pieces", scratch.path().string());
  CHECK(learned_tokenizer(*spec, {"x"}, scratch.path() / "cache")->size() == 4);
  write_file(scratch.path() / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\n");
  CHECK(learned_tokenizer(*spec, {"x"}, scratch.path() / "cache")->size() == 5);
  CHECK(learned_tokenizer(*spec, {}, {})->decode(std::vector<Token>{3, 4, 3}) == "ab a");
}

TEST_CASE("damaged vocabularies are errors that name what is wrong") {
  const ScratchFolder scratch;
  const auto error_of = [&scratch](const std::string& kind, const std::string& file,
                                   const std::string& bytes) {
    std::filesystem::remove_all(scratch.path());
    write_file(scratch.path() / file, bytes);
    const auto spec = spec_of(kind, scratch.path().string());
    try {
      learned_tokenizer(*spec, {}, {});
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(error_of("word_pieces", "vocab.txt", "[UNK]\n[CLS]\na\n"), "has no [SEP]"));
  CHECK(contains(error_of("word_pieces", "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\na\n"), "given twice"));
  CHECK(contains(error_of("word_pieces", "other.txt", ""), "vocab.txt"));
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", "[]"), "is damaged"));
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", R"({"pre_tokenizer": )" + deep + "}"),
                 "nested more than 64 levels deep"));
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", R"({"model": {"type": "Unigram"}})"),
                 "not a byte-level BPE"));
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", R"({"model": {"vocab": {"a": -1}, "merges": []}})"),
                 "cut into words in a way"));
  CHECK(contains(
      error_of(
          "byte_pairs", "tokenizer.json",
          R"({"model": {"vocab": {"a": 999999}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}})"),
      "the entry 'a' has the id 999999 among 1 entries"));
  CHECK(contains(
      error_of("byte_pairs", "tokenizer.json",
               R"({"model": {"vocab": {"a": 0, "b": 1, "a": 2}, "merges": []}, "pre_tokenizer": {}})"),
      "the key 'a' stands twice in one object"));
  CHECK(contains(
      error_of("byte_pairs", "tokenizer.json",
               R"({"model": {"vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}})"),
      "no entry for the end of a text"));
  CHECK(contains(error_of("sentence_piece", "tokenizer.model", "nonsense"), "not a SentencePiece model"));
  CHECK_THROWS_AS(sentence_piece_model(std::string(11, '\x7f')), DataError);
}

TEST_CASE("bytes that are no UTF-8 are replaced as the Unicode standard says") {
  CHECK(with_replacements("a\xc3\xa9z") == "a\xc3\xa9z");
  CHECK(with_replacements("\xe4\xb8") == "\xef\xbf\xbd");
  CHECK(with_replacements("\xff\xfe") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(with_replacements("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(with_replacements("\xf0\x9f\x98 x") == "\xef\xbf\xbd x");
}
