#include <cstdlib>
#include <iostream>

#include "config/error.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/batches.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

Task load(const std::filesystem::path& root, const std::string& keys) {
  DataSpec data;
  read_spec(Tree::parse("root: '" + root.string() + "'\ntask: {" + keys + "}"), data);
  return data.load();
}

// `count` pairs whose target is the source with its words in capitals.
void write_pairs(const std::filesystem::path& stem, int count, int salt) {
  std::string source, target;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i * 31 + salt);
    source += "a small line " + number + "\n";
    target += "EINE KLEINE ZEILE " + number + "\n";
  }
  write_file(stem.string() + ".en", source);
  write_file(stem.string() + ".de", target);
}

struct Corpora : ScratchFolder {
  Corpora() {
    write_pairs(path() / "set" / "train", 60, 0);
    write_pairs(path() / "set" / "val", 7, 1000);
    write_pairs(path() / "set" / "test", 5, 2000);
  }
};

const std::string kWords = "kind: parallel_text, folder: set, tokenizer: word";

std::string message_of(const std::filesystem::path& root, const std::string& keys) {
  try {
    load(root, keys);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("parallel text has framed examples, raw references and whole test sets") {
  const Corpora corpora;
  const Task task = load(corpora.path(), kWords);
  CHECK(task.joint());
  CHECK(task.metrics.front() == "bleu");
  CHECK(task.train.examples.size() == 60);
  CHECK(task.valid.examples.size() == 7);
  REQUIRE(task.tests.size() == 1);
  CHECK(task.tests[0].name == "test");
  CHECK(task.tests[0].corpus.references[1] == "EINE KLEINE ZEILE 2031");
  const Example& example = task.train.examples[3];
  CHECK(task.source->decode(example.source) == "a small line 93");
  CHECK(task.target->decode(example.target) == "EINE KLEINE ZEILE 93");
  CHECK(example.source.back() == task.source->eos());
  CHECK(example.target.front() == task.target->bos());
  CHECK(content_hash(task) == content_hash(load(corpora.path(), kWords)));
}

TEST_CASE("test sets whose files have one name are called by their whole path") {
  const Corpora corpora;
  for (const char* name : {"2013/test", "2014/test", "2014/news", "2014_test"})
    write_pairs(corpora.path() / "set" / name, 5, 3000);
  const auto names = [&corpora](const std::string& tests) {
    std::string all;
    for (const NamedCorpus& test : load(corpora.path(), kWords + ", test: [" + tests + "]").tests)
      all += test.name + " ";
    return all;
  };
  CHECK(names("2013/test, 2014/test, 2014/news") == "2013_test 2014_test news ");
  CHECK(names("2013/test, test") == "2013_test test ");
  CHECK(names("2014/test, 2014/news") == "test news ");
  CHECK_THROWS_AS(names("2014_test, 2014/test, 2013/test"), ConfigError);
}

TEST_CASE("unknown scores are refused before anything is read") {
  CHECK_THROWS_AS(load("nowhere", kWords + ", scores: [bleu, chfr]"), ConfigError);
  CHECK_THROWS_AS(load("nowhere", kWords + ", scores: []"), ConfigError);
}

TEST_CASE("vocabularies may be separate, with kinds of their own") {
  const Corpora corpora;
  const Task task = load(corpora.path(), kWords + ", joint: false, target_tokenizer: character");
  CHECK_FALSE(task.joint());
  CHECK(task.source->name() == "word");
  CHECK(task.target->name() == "character");
  CHECK(task.source->encode("EINE") == std::vector<Token>{task.source->unk()});
  CHECK_THROWS_AS(load(corpora.path(), kWords + ", target_tokenizer: character"), ConfigError);
}

TEST_CASE("overlong and empty training pairs are left out and counted, test lines never") {
  const Corpora corpora;
  write_file(corpora.path() / "set" / "train.en", "a b\n\na b c d e f\na\n");
  write_file(corpora.path() / "set" / "train.de", "A B\nB\nA B\nA\n");
  const Task task = load(corpora.path(), kWords + ", max_length: 3");
  CHECK(task.train.examples.size() == 2);
  CHECK(task.train.dropped == 2);
  CHECK(task.train.references == std::vector<std::string>{"A B", "A"});
  CHECK(task.notes[0] == "train: 2 pairs, 2 left out (1 with an empty side, 1 longer than 3 tokens)");
  CHECK(task.tests[0].corpus.examples.size() == 5);
  CHECK(message_of(corpora.path(), kWords + ", max_length: 1").find("no error") == 0);
}

TEST_CASE("held-out lines come from the training file where there are no others") {
  const Corpora corpora;
  const Task task = load(corpora.path(), kWords + ", hold_out: 6");
  CHECK(task.valid.examples.size() == 10);
  CHECK(task.tests[0].corpus.examples.size() == 10);
  CHECK(task.train.examples.size() == 40);
  CHECK(task.valid.sources[0] == "a small line 155");
  // Equal source lines stay together.
  std::string source, target;
  for (int i = 0; i < 60; ++i) {
    source += "line " + std::to_string(i % 12) + "\n";
    target += "ZEILE " + std::to_string(i) + "\n";
  }
  write_file(corpora.path() / "set" / "train.en", source);
  write_file(corpora.path() / "set" / "train.de", target);
  const Task doubled = load(corpora.path(), kWords + ", hold_out: 6");
  CHECK(doubled.valid.examples.size() == 10);
  for (const std::string& line : doubled.valid.sources) CHECK((line == "line 5" || line == "line 11"));
  CHECK_THROWS_AS(load(corpora.path(), kWords + ", hold_out: 2"), ConfigError);
}

TEST_CASE("held-out lines that leave nothing to validate or test on are refused, with their number") {
  const Corpora corpora;
  for (const char* period : {"1000", "61"}) {  // 61: a test pair, but none for validation
    const std::string message = message_of(corpora.path(), kWords + ", hold_out: " + period);
    CHECK(message.find(join_text("train.en: hold_out ", period, " of 60 different source lines")) !=
          std::string::npos);
  }
  CHECK(message_of(corpora.path(), kWords + ", hold_out: 60") == "no error");
}

TEST_CASE("file names may hold the language anywhere, files may be packed or absolute") {
  const Corpora corpora;
  const std::string pattern = corpora.path().string() + "/set/train.{lang}";
  const std::string keys = "kind: parallel_text, tokenizer: {kind: word, max_size: 3}, hold_out: 6, train: '";
  CHECK(load(corpora.path() / "elsewhere", keys + pattern + "'").train.examples.size() == 40);
}

TEST_CASE("broken parallel text is refused with file and numbers") {
  const Corpora corpora;
  const auto set = corpora.path() / "set";
  write_file(set / "val.de", "one line\n");
  const std::string message = message_of(corpora.path(), kWords);
  CHECK(message.find("val.en has 7 lines") != std::string::npos);
  CHECK(message.find("val.de has 1;") != std::string::npos);
  write_file(set / "val.de", "");
  write_file(set / "val.en", "");
  CHECK(message_of(corpora.path(), kWords).find("val.en: the file is empty") != std::string::npos);
  write_file(set / "val.en", "x\n\xff\n");
  CHECK(message_of(corpora.path(), kWords).find("val.en:2: invalid UTF-8") != std::string::npos);
  std::filesystem::remove(set / "val.en");
  CHECK(message_of(corpora.path(), kWords).find("val.en: no such file") != std::string::npos);
}

TEST_CASE("running text is cut into blocks that overlap by one token") {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "line " + std::to_string(i % 10) + "\n";
  write_file(scratch.path() / "input.txt", text);
  const Task task = load(scratch.path(),
                         "kind: text, line_end: newline, block: 32, valid_fraction: 0.2, test_fraction: 0.1");
  CHECK(task.source == nullptr);
  CHECK(task.metrics == std::vector<std::string>{"perplexity"});
  CHECK(task.target->size() == 3 + 16);
  Index rows = 0;
  std::string decoded;
  for (std::size_t i = 0; i < task.train.examples.size(); ++i) {
    const Example& example = task.train.examples[i];
    CHECK(example.source.empty());
    CHECK(example.target_rows() <= 32);
    if (i > 0) CHECK(example.target.front() == task.train.examples[i - 1].target.back());
    rows += example.target_rows();
    decoded += task.target->decode(std::vector<Token>(example.target.begin() + 1, example.target.end()));
  }
  CHECK(rows == 70 * 7);
  CHECK(decoded == text.substr(0, 70 * 7));
  REQUIRE(task.tests.size() == 1);
  CHECK(task.valid.examples.size() == 5);
}

TEST_CASE("line ends are </s> where the tokenizer has no line breaks") {
  const ScratchFolder scratch;
  write_file(scratch.path() / "input.txt", "a b\nc\na b\nc\na b\nc\n");
  const Task task = load(scratch.path(), "kind: text, tokenizer: word, block: 4, valid_fraction: 0.3");
  const Token end = task.target->eos();
  const Token a = task.target->encode("a")[0], b = task.target->encode("b")[0],
              c = task.target->encode("c")[0];
  CHECK(task.train.examples[0].target == std::vector<Token>{end, a, b, end, c});
  CHECK(task.train.examples[1].target == std::vector<Token>{c, end, a, b, end});
  CHECK(message_of(scratch.path(), "kind: text, tokenizer: word, line_end: newline, valid_fraction: 0.3")
            .find("loses line breaks") != std::string::npos);
}

TEST_CASE("a text of too few lines for its validation or test is refused, by file and key") {
  const ScratchFolder scratch;
  write_file(scratch.path() / "input.txt", "all of it in one line");
  const auto message = [&scratch](const std::string& keys) {
    return message_of(scratch.path(), "kind: text, " + keys);
  };
  const std::string file = (scratch.path() / "input.txt").string();
  CHECK(message("valid_fraction: 0.1").find(file + ": valid_fraction 0.1 of 1 lines is no whole line") == 0);
  CHECK(message("valid_fraction: 0, test_fraction: 0.2").find(file + ": test_fraction 0.2 of 1 lines") == 0);
  CHECK(message("valid: input.txt") == "no error");
  const Task task = load(scratch.path(), "kind: text, valid_fraction: 0");
  CHECK(task.valid.examples.empty());
  CHECK(task.tests.empty());
}

TEST_CASE("lines that end in line breaks: ids line by line, which must be those within a text") {
  const ScratchFolder scratch;
  const std::string golden = std::string(ATTNLAB_SOURCE_DIR) + "/tests/golden/tokenizers/";
  std::vector<std::string> lines;
  for (int i = 10; i < 30; ++i) {
    lines.push_back("It's line " + std::to_string(i) + ".\n");
    lines.emplace_back("\n");
    lines.emplace_back("\n");
    lines.emplace_back("  two spaces\n");
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  write_file(scratch.path() / "input.txt", text);
  const std::string keys = "kind: text, block: 100000, valid_fraction: 0.5, line_end: ";
  for (const std::string& tokenizer :
       {std::string("character"), "{kind: byte_pairs, path: '" + golden + "byte_pairs'}"}) {
    INFO(tokenizer);
    const Task task = load(scratch.path(), keys + "newline, tokenizer: " + tokenizer);
    std::vector<Token> expected{task.target->eos()};
    for (std::size_t i = 0; i < lines.size() / 2; ++i)
      for (const Token id : task.target->encode(lines[i])) expected.push_back(id);
    REQUIRE(task.train.examples.size() == 1);
    CHECK(task.train.examples[0].target == expected);
  }
  // A word sign at the begin of every line, which the text as a whole has not.
  const std::string pieces = ", tokenizer: {kind: sentence_piece, path: '" + golden + "sentence_piece'}";
  CHECK(message_of(scratch.path(), keys + "newline" + pieces).find("writes the begin of a text otherwise") !=
        std::string::npos);
  CHECK(message_of(scratch.path(), keys + "symbol" + pieces) == "no error");
}

TEST_CASE("Multi30k loads with joint subwords") {
  const char* const shared = std::getenv("ATTNLAB_SHARED_DATA");
  if (shared == nullptr) {
    std::cerr << "skipped: ATTNLAB_SHARED_DATA is not set, Multi30k was not read\n";
    return;
  }
  const ScratchFolder scratch;
  const std::string keys = "kind: parallel_text, folder: '" + std::string(shared) +
                           "/multi30k', tokenizer: {kind: subword, size: 6000, sample: 6000}, test: "
                           "[test_2016_flickr, test_2017_mscoco]";
  const Task task = load(scratch.path(), keys);
  CHECK(task.train.examples.size() == 29000);
  CHECK(task.valid.examples.size() == 1014);
  CHECK(task.tests[1].corpus.examples.size() == 461);
  CHECK(task.source->size() == 6000);
  CHECK(content_hash(task) == content_hash(load(scratch.path(), keys)));
  for (const std::string& note : task.notes) std::cerr << "  " << note << "\n";
  const BatchLists batches = plan_batches(task.train.examples, {}, 0);
  const PaddingReport padding = padding_avoided(task.train.examples, batches);
  std::cerr << "  " << batches.size() << " batches, padding avoided " << padding.share() << "\n";
  CHECK(padding.share() < 0.1);
}
