#include "data/generated.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "support/catch.h"

using namespace attnlab;

namespace {
std::vector<Index> reversed(std::vector<Index> symbols) {
  std::reverse(symbols.begin(), symbols.end());
  return symbols;
}
const GeneratedSettings kSmall{
    .symbols = 8, .min_length = 2, .max_length = 5, .train = 400, .valid = 30, .test = 20};
}  // namespace

TEST_CASE("generated tasks have the promised sizes, lengths and targets") {
  const Task task = generate_task(kSmall, reversed);
  CHECK(task.joint());
  CHECK(task.source->size() == 8 + 3);
  CHECK(task.best_score == 1.0);
  REQUIRE(task.tests.size() == 1);
  CHECK(task.train.examples.size() == 400);
  CHECK(task.valid.examples.size() == 30);
  CHECK(task.tests[0].corpus.examples.size() == 20);
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < task.train.examples.size(); ++i) {
    const Example& example = task.train.examples[i];
    lengths.insert(example.source.size() - 1);
    std::vector<Token> back(example.source.rbegin() + 1, example.source.rend());
    back.insert(back.begin(), task.target->bos());
    back.push_back(task.target->eos());
    CHECK(example.target == back);
    CHECK(task.target->decode(example.target) == task.train.references[i]);
    CHECK(task.source->decode(example.source) == task.train.sources[i]);
  }
  CHECK(lengths == std::set<std::size_t>{2, 3, 4, 5});
}

TEST_CASE("generated splits do not overlap and depend on the seed alone") {
  const Task task = generate_task(kSmall, reversed);
  std::set<std::string> held_out(task.valid.sources.begin(), task.valid.sources.end());
  held_out.insert(task.tests[0].corpus.sources.begin(), task.tests[0].corpus.sources.end());
  for (const std::string& line : task.train.sources) CHECK_FALSE(held_out.contains(line));
  CHECK(content_hash(task) == content_hash(generate_task(kSmall, reversed)));
  GeneratedSettings other = kSmall;
  other.seed = 2;
  CHECK(content_hash(task) != content_hash(generate_task(other, reversed)));
  // A longer training split begins like the shorter one.
  GeneratedSettings longer = kSmall;
  longer.train = 500;
  const Task more = generate_task(longer, reversed);
  CHECK(std::equal(task.train.sources.begin(), task.train.sources.end(), more.train.sources.begin()));
}

TEST_CASE("too small a space of sequences is an error") {
  CHECK_THROWS_AS(generate_task({.symbols = 2, .min_length = 1, .max_length = 2}, reversed), DataError);
  CHECK_THROWS_AS(generate_task({.min_length = 4, .max_length = 3}, reversed), DataError);
}
