#include "data/generated.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/error.h"
#include "config/registry.h"
#include "config/spec.h"
#include "core/error.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

Task load(const std::string& keys) {
  DataSpec data;
  read_spec(Tree::parse("task: {" + keys + "}"), data);
  return data.load();
}

const std::string kSmall = ", symbols: 8, min_length: 2, max_length: 5, train: 400, valid: 30, test: 20";

std::vector<Token> body(const Task& task, const std::vector<Token>& framed) {
  std::vector<Token> ids;
  for (const Token id : framed) {
    if (id != task.target->bos() && id != task.target->eos()) ids.push_back(id);
  }
  return ids;
}

}  // namespace

TEST_CASE("generated tasks have the promised sizes, lengths and frames") {
  const Task task = load("kind: copy" + kSmall);
  CHECK(task.joint());
  CHECK(task.source->size() == 8 + 3);
  CHECK(task.best_score == 1.0);
  CHECK(task.metrics == std::vector<std::string>{"exact_match"});
  REQUIRE(task.tests.size() == 1);
  CHECK(task.train.examples.size() == 400);
  CHECK(task.valid.examples.size() == 30);
  CHECK(task.tests[0].corpus.examples.size() == 20);
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < task.train.examples.size(); ++i) {
    const Example& example = task.train.examples[i];
    lengths.insert(example.source.size() - 1);
    CHECK(example.source.back() == task.source->eos());
    CHECK(example.target.front() == task.target->bos());
    CHECK(example.target.back() == task.target->eos());
    CHECK(task.target->decode(example.target) == task.train.references[i]);
    CHECK(task.source->decode(example.source) == task.train.sources[i]);
  }
  CHECK(lengths == std::set<std::size_t>{2, 3, 4, 5});
}

TEST_CASE("copy, reverse and sort do what they say") {
  const Task copy = load("kind: copy" + kSmall), reverse = load("kind: reverse" + kSmall),
             sort = load("kind: sort" + kSmall);
  for (std::size_t i = 0; i < 400; ++i) {
    std::vector<Token> ids = body(copy, copy.train.examples[i].source);
    CHECK(copy.train.sources[i] == sort.train.sources[i]);  // the same sequences
    CHECK(body(copy, copy.train.examples[i].target) == ids);
    std::reverse(ids.begin(), ids.end());
    CHECK(body(reverse, reverse.train.examples[i].target) == ids);
    std::sort(ids.begin(), ids.end());
    CHECK(body(sort, sort.train.examples[i].target) == ids);
  }
}

TEST_CASE("generated splits do not overlap and depend on the seed alone") {
  const Task task = load("kind: sort" + kSmall);
  std::set<std::string> held_out(task.valid.sources.begin(), task.valid.sources.end());
  held_out.insert(task.tests[0].corpus.sources.begin(), task.tests[0].corpus.sources.end());
  for (const std::string& line : task.train.sources) CHECK_FALSE(held_out.contains(line));
  CHECK(content_hash(task) == content_hash(load("kind: sort" + kSmall)));
  CHECK(content_hash(task) != content_hash(load("kind: sort, seed: 2" + kSmall)));
  CHECK(content_hash(task) != content_hash(load("kind: copy" + kSmall)));
  // A longer training split begins like the shorter one.
  const Task more =
      load("kind: sort, symbols: 8, min_length: 2, max_length: 5, train: 500, valid: 30, test: 20");
  CHECK(std::equal(task.train.sources.begin(), task.train.sources.end(), more.train.sources.begin()));
}

TEST_CASE("lengths with few sequences are learned as often as they are tested, from other sequences") {
  const Task task = load("kind: copy, symbols: 8, max_length: 5, train: 4000, valid: 500, test: 500");
  const auto shares = [](const Corpus& corpus) {
    std::map<std::size_t, double> share;
    for (const Example& example : corpus.examples)
      share[example.source.size() - 1] += 1.0 / static_cast<double>(corpus.examples.size());
    return share;
  };
  for (const Corpus* corpus : {&task.train, &task.valid, &task.tests[0].corpus})
    for (std::size_t length = 1; length <= 5; ++length) {
      INFO("length " << length);
      CHECK(shares(*corpus)[length] == Approx(0.2).margin(0.06));
    }
  std::set<std::string> trained(task.train.sources.begin(), task.train.sources.end());
  const std::set<std::string> valid(task.valid.sources.begin(), task.valid.sources.end());
  for (const std::string& line : task.tests[0].corpus.sources) {
    CHECK_FALSE(trained.contains(line));
    if (line.size() < 8) CHECK_FALSE(valid.contains(line));  // one to four symbols
  }
  for (const std::string& line : valid) CHECK_FALSE(trained.contains(line));
}

TEST_CASE("settings that cannot work are refused") {
  CHECK_THROWS_AS(load("kind: copy, symbols: 1, max_length: 1"), DataError);
  CHECK_THROWS_AS(load("kind: copy, min_length: 4, max_length: 3"), ConfigError);
  CHECK_THROWS_AS(load("kind: copy, symbols: 0"), ConfigError);
  CHECK_THROWS_AS(load("kind: cpoy"), ConfigError);
  CHECK_THROWS_AS(DataSpec{}.load(), ConfigError);
}
