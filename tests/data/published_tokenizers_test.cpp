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
  for (const std::string line : ids["lines"])
    CHECK(tokenizer->decode(tokenizer->encode(line)) == line);
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
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", R"({"model": {"type": "Unigram"}})"),
                 "not a byte-level BPE"));
  CHECK(contains(error_of("byte_pairs", "tokenizer.json", R"({"model": {"vocab": {"a": -1}, "merges": []}})"),
                 "cut into words in a way"));
  CHECK(contains(
      error_of(
          "byte_pairs", "tokenizer.json",
          R"({"model": {"vocab": {"a": 99999999999}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}})"),
      "has no id"));
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
