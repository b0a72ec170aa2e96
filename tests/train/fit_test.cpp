// What is refused before training: data that the model has no room for, and rules of early stopping that no
// validation can follow.
#include "config/error.h"
#include "support/catch.h"
#include "train/small_run.h"

using namespace attnlab;

namespace {

constexpr const char* kConfig = R"(
precision: f32
data: {task: {kind: reverse, symbols: 5, min_length: 2, max_length: 5, train: 20, valid: 6, test: 4}}
model:
  {width: 8, layers: 1, heads: 2, feed_forward: 8, positions: {kind: learned, max_length: 8}}
train: {max_steps: 1}
)";

using Assignments = std::vector<std::string>;

struct Refused : SmallRun {
  explicit Refused(const Assignments& assignments = {}) : SmallRun(kConfig, assignments) {}

  std::string fit() const {
    try {
      check_fit(spec, task);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }
  std::string early_stopping() const {
    try {
      check_early_stopping(spec, task);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One token more than `rows` is a target of so many rows: it has its begin and its end.
std::vector<Token> tokens(std::size_t rows) { return std::vector<Token>(rows, 4); }

}  // namespace

TEST_CASE("sentences beyond learned positions are refused before training, the longest one named") {
  Refused run;
  CHECK(run.fit().empty());
  run.task.train.examples[3].source = tokens(8);
  run.task.train.examples[3].target = tokens(9);
  CHECK(run.fit().empty());  // full, but not too long
  run.task.tests[0].corpus.examples[1].source = tokens(9);
  CHECK(has(run.fit(), "test, line 2: a source of 9 tokens"));
  CHECK(has(run.fit(), "room for 8; raise model.positions.max_length to 9"));
  run.task.valid.examples[4].source = tokens(11);
  CHECK(has(run.fit(), "valid, line 5: a source of 11 tokens"));
  run.task.train.dropped = 2;
  run.task.train.examples[6].source = tokens(12);
  CHECK(has(run.fit(), "train, line 7 of those kept: a source of 12 tokens"));

  Refused target;
  target.task.valid.examples[2].target = tokens(10);
  CHECK(has(target.fit(), "valid, line 3: a target of 9 tokens"));
  for (const char* kind : {"sinusoidal", "rotary", "none"}) {
    target.spec.model.positions.set_all(kind);
    CHECK(target.fit().empty());
  }
}

TEST_CASE("a task that can cut its sentences says by which key, others do not") {
  Refused run;
  run.task.valid.examples[4].source = tokens(11);
  CHECK_FALSE(has(run.fit(), "max_tokens"));
  run.spec.data.task = Registry<TaskSpec>::make("polarity");
  CHECK(
      has(run.fit(), "room for 8; lower data.task.max_tokens to 8, raise model.positions.max_length to 11"));
}

TEST_CASE("a test split without examples is refused before training, by name") {
  Refused run;
  run.task.tests.push_back({"test_2017", {}});
  CHECK(has(run.fit(), "the test split 'test_2017' has no examples"));
}

TEST_CASE("attention with length maps has room for as many tokens of a source") {
  const std::string maps = "{kind: linformer, projected: 4}";
  for (const std::string key : {"model.encoder.attention", "model.cross_attention"}) {
    INFO(key);
    Refused run({"model.positions.kind=sinusoidal", key + "=" + maps});
    run.task.valid.examples[0].target = tokens(20);
    CHECK(run.fit().empty());
    run.task.valid.examples[0].source = tokens(9);
    CHECK(has(run.fit(), "valid, line 1: a source of 9 tokens"));
  }
  const Refused without(
      {"model.positions.kind=sinusoidal", "model.encoder.layers=0", "model.encoder.attention=" + maps});
  CHECK_FALSE(longest_input(without.spec.model).source);
}

TEST_CASE("a metric that no validation has is refused before training") {
  const auto refusal = [](const Assignments& assignments) { return Refused(assignments).early_stopping(); };
  for (const std::string metric : {"valid_nll", "valid_perplexity", "valid_accuracy", "valid_exact_match"})
    CHECK(refusal({"train.early_stopping.metric=" + metric}).empty());
  CHECK(has(refusal({"train.early_stopping.metric=valid_exact_matsch"}), "valid_exact_match"));
  CHECK(has(refusal({"train.early_stopping.metric=valid_bleu"}),
            "train.early_stopping.metric: no metric 'valid_bleu'; there are: "));
  const std::string undecoded =
      refusal({"train.early_stopping.metric=valid_exact_match", "train.validation_scores=false"});
  CHECK(has(undecoded, "valid_accuracy"));
  CHECK_FALSE(has(undecoded, "valid_accuracy, valid_exact_match"));
}

TEST_CASE("stopping by a validation split that is not there is refused") {
  for (const std::string rule : {"patience", "target"}) {
    Refused run({"train.early_stopping." + rule + "=2"});
    CHECK(run.early_stopping().empty());
    run.task.valid = {};
    CHECK(has(run.early_stopping(), "train.early_stopping." + rule));
  }
  Refused neither;
  neither.task.valid = {};
  CHECK(neither.early_stopping().empty());
}
