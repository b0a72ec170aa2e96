#include "data/subword.h"

#include "core/error.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

std::vector<std::string> some_lines() {
  std::vector<std::string> lines{""};
  const std::vector<std::string> nouns{"Hund", "Katze", "Vogel",
                                       "M\xc3\xa4"
                                       "dchen",
                                       "Junge"};
  for (std::size_t i = 0; i < 300; ++i) {
    lines.push_back("Der " + nouns[i % 5] + " sieht die " + nouns[i * 7 % 5] + " Nummer " +
                    std::to_string(i) + ".");
  }
  return lines;
}

}  // namespace

TEST_CASE("subword models are reproducible and decode what they encode") {
  const std::vector<std::string> lines = some_lines();
  for (const SubwordModel kind : {SubwordModel::bpe, SubwordModel::unigram}) {
    const SubwordSettings settings{.model = kind, .size = 60};
    const std::string model = train_subwords(lines, settings);
    CHECK(model == train_subwords(lines, settings));
    const auto tokenizer = parse_subwords(model);
    CHECK(tokenizer->size() == 60);
    CHECK(tokenizer->name() == "subword");
    CHECK(tokenizer->unk() == 0);
    CHECK(tokenizer->bos() == 1);
    CHECK(tokenizer->eos() == 2);
    CHECK(tokenizer->piece(2) == "</s>");
    for (const std::string& line : lines) {
      const std::vector<Token> ids = tokenizer->encode(line);
      CHECK(tokenizer->decode(ids) == line);
      CHECK(source_ids(*tokenizer, line).back() == tokenizer->eos());
      CHECK(target_ids(*tokenizer, line).size() == ids.size() + 2);
      CHECK(tokenizer->decode(target_ids(*tokenizer, line)) == line);
    }
    CHECK(parse_subwords(tokenizer->serialized())->encode(lines[5]) == tokenizer->encode(lines[5]));
    CHECK_THROWS_AS(tokenizer->decode(std::vector<Token>{60}), DataError);
    CHECK_THROWS_AS(tokenizer->piece(-1), DataError);
  }
}

TEST_CASE("subword training reports what does not fit") {
  CHECK_THROWS_AS(train_subwords({"", ""}, {}), DataError);
  CHECK_THROWS_AS(train_subwords({"a b"}, {.model = SubwordModel::unigram, .size = 5000}), DataError);
  CHECK_THROWS_AS(train_subwords(some_lines(), {.size = 5}), DataError);
  CHECK_THROWS_AS(parse_subwords("not a model"), DataError);
  CHECK_THROWS_AS(parse_subwords(""), DataError);
}

TEST_CASE("unknown characters become bytes when asked") {
  const auto plain = parse_subwords(train_subwords(some_lines(), {.size = 60}));
  CHECK(plain->encode("\xe2\x82\xac").back() == plain->unk());
  const auto bytes = parse_subwords(train_subwords(some_lines(), {.size = 320, .byte_fallback = true}));
  CHECK(bytes->decode(bytes->encode("\xe2\x82\xac")) == "\xe2\x82\xac");
}
