// The task `polarity` on made-up reviews: its splits, what is cut, its baselines.
#include "config/spec.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

// Forty sentences of each class, which are numbered.
struct Reviews {
  Reviews() {
    std::string good, bad;
    for (int i = 0; i < 40; ++i) {
      good += "a good film number " + std::to_string(i) + "\n";
      bad += "a bad film number " + std::to_string(i) + " that goes on and on and on\n";
    }
    write_file(scratch.path() / "sentence-polarity" / "rt-polarity.pos", good);
    write_file(scratch.path() / "sentence-polarity" / "rt-polarity.neg", bad);
  }
  Task load(const std::string& keys) const {
    DataSpec spec;
    read_spec(Tree::parse("task: {kind: polarity, " + keys + "}\nroot: " + scratch.path().string()), spec);
    return spec.load();
  }
  ScratchFolder scratch;
};

// The numbers of the sentences, in order.
std::vector<int> numbers(const Corpus& corpus) {
  std::vector<int> all;
  for (const std::string& line : corpus.sources)
    all.push_back(std::stoi(line.substr(line.find("number") + 7)));
  return all;
}

}  // namespace

TEST_CASE("polarity: splits of both files, cut sentences, baselines") {
  const Reviews reviews;
  const Task task = reviews.load("max_tokens: 8");
  CHECK(task.train.examples.size() == 64);
  CHECK(task.valid.examples.size() == 8);
  CHECK(task.tests[0].corpus.references.back() == "positive");
  for (const Example& example : task.train.examples) CHECK(example.source.size() <= 8);
  REQUIRE(task.baselines.size() == 2);
  CHECK(task.baselines[0].name == "majority");
  CHECK(task.baselines[0].score == 0.5);
  CHECK(task.baselines[1].name == "naive Bayes on words");
  CHECK(task.baselines[1].score == 1);
  CHECK(reviews.load("train_examples: 10").train.examples.size() == 10);
}

TEST_CASE("polarity: each split can be cut to a number of sentences, the first of both classes") {
  const Reviews reviews;
  const Task task = reviews.load("train_examples: 6, valid_examples: 4, test_examples: 2");
  CHECK(numbers(task.train) == std::vector<int>{0, 1, 2, 0, 1, 2});
  CHECK(numbers(task.valid) == std::vector<int>{32, 33, 32, 33});
  CHECK(numbers(task.tests[0].corpus) == std::vector<int>{36, 36});
  CHECK(task.valid.references == std::vector<std::string>{"negative", "negative", "positive", "positive"});
  // One sentence is one of each class, and more than there are, or 0, is all.
  CHECK(numbers(reviews.load("valid_examples: 1").valid) == std::vector<int>{32, 32});
  for (const char* all : {"valid_examples: 1000, test_examples: 9223372036854775807", "test_examples: 0"}) {
    const Task whole = reviews.load(all);
    CHECK(whole.train.examples.size() == 64);
    CHECK(numbers(whole.valid) == std::vector<int>{32, 33, 34, 35, 32, 33, 34, 35});
    CHECK(numbers(whole.tests[0].corpus) == std::vector<int>{36, 37, 38, 39, 36, 37, 38, 39});
  }
}
