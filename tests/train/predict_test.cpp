// Labels of lines: those that scoring finds for the same texts, in any company, and what is refused.
#include "train/predict.h"

#include <cmath>

#include "config/error.h"
#include "data/labels.h"
#include "support/catch.h"
#include "train/classifier_run.h"
#include "train/evaluation.h"
#include "train/scoring.h"

using namespace attnlab;

namespace {

using Lines = std::vector<std::string>;

constexpr const char* kListOps = "kind: list_ops, max_length: 12, train: 60, valid: 8, test: 8";

Lines names_of(const TrainedModel& trained, const std::vector<Prediction>& predictions) {
  Lines names;
  for (const Prediction& one : predictions)
    names.push_back(one.label ? trained.target->piece(*one.label) : "(none)");
  return names;
}

}  // namespace

TEST_CASE("labels of the lines of a split are the outputs of its score, by every pool and form") {
  for (const std::string model : {"kind: encoder, head: {pool: mean, gain: 5}", "kind: encoder, head: cls",
                                  "kind: decoder, head: {pool: last, gain: 5}"})
    for (const std::string task : {"kind: polarity, max_tokens: 8", kListOps}) {
      CAPTURE(model, task);
      const ClassifierRun run(task, model);
      const TrainedModel trained = load_trained_model(run.folder());
      const Corpus& corpus = run.loaded.train;
      const auto outputs = score_split(trained.model(), run.loaded, "train", corpus, {}, 1).outputs;
      CHECK(names_of(trained, predict_lines(trained, corpus.sources)) == outputs);
    }
}

TEST_CASE("the probability of every label is that of forced scoring, and the label the most likely one") {
  const ClassifierRun run(kListOps);
  const TrainedModel trained = load_trained_model(run.folder());
  const Corpus& corpus = run.loaded.valid;
  const auto predictions = predict_lines(trained, corpus.sources);
  REQUIRE(predictions.size() == corpus.examples.size());
  for (Token label = 0; label < 10; ++label) {
    std::vector<Example> forced = corpus.examples;
    for (Example& example : forced) example.target = label_target({label});
    const auto scores = score_reference(trained.model(), forced);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double probability = predictions[i].probabilities.at(static_cast<std::size_t>(label));
      CHECK(probability == Approx(std::exp(scores[i].log_probability)).epsilon(1e-4));
      CHECK(probability <= predictions[i].probabilities.at(static_cast<std::size_t>(*predictions[i].label)));
    }
  }
  CHECK(predictions[0].probabilities != predictions[1].probabilities);
}

TEST_CASE("a line is read as its task's examples, cut as they are, and to the room of the model") {
  const ClassifierRun run;
  const TrainedModel trained = load_trained_model(run.folder());
  const Corpus& corpus = run.loaded.train;
  const std::string dull = "a dull film number 3 that goes on and on", fine = "a fine film number 3";
  for (std::size_t i = 0; i < corpus.sources.size(); ++i) {
    const FramedText text = read_line(trained, corpus.sources[i]);
    CHECK(text.ids == corpus.examples[i].source);
    CHECK(text.cut == (corpus.references[i] == "negative"));  // the dull ones go on and on
  }
  std::vector<Index> cut_lines;
  predict_lines(trained, {dull, fine, dull}, 10, &cut_lines);
  CHECK(cut_lines == std::vector<Index>{11, 13});

  const ClassifierRun small(kListOps,
                            "kind: encoder, head: mean, positions: {kind: learned, max_length: 14}");
  const TrainedModel room = load_trained_model(small.folder());
  std::string digits = "7";
  while (read_line(room, digits).ids.size() < 14) digits += " 7";
  CHECK(!read_line(room, digits).cut);
  const FramedText more = read_line(room, digits + " 7 7");
  CHECK(more.cut);
  CHECK(more.ids == read_line(room, digits).ids);
}

TEST_CASE("lines in, as many predictions out, in any company; none for a line without words") {
  const ClassifierRun run;
  const TrainedModel trained = load_trained_model(run.folder());
  const Lines lines{"a dull film",          "",    "film", "   ", "unknown words alone here",
                    "a fine film number 7", "film"};
  const auto together = predict_lines(trained, lines);
  REQUIRE(together.size() == lines.size());
  for (const std::size_t empty : {1, 3}) {
    CHECK(!together[empty].label);
    CHECK(together[empty].probabilities.empty());
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Prediction alone = predict_lines(trained, {lines[i]}).front();
    CHECK(alone.label == together[i].label);
    REQUIRE(alone.probabilities.size() == together[i].probabilities.size());
    for (std::size_t label = 0; label < alone.probabilities.size(); ++label)
      CHECK(alone.probabilities[label] == Approx(together[i].probabilities[label]).epsilon(1e-5));
  }
  CHECK(predict_lines(trained, {}).empty());
}

TEST_CASE("models without labels of lines, and symbols that a task does not have, are refused") {
  const ClassifierRun bits("kind: bit_xor, train: 20", "kind: decoder, head: last");
  const ClassifierRun writer("kind: reverse, train: 20, valid: 4, test: 4", "kind: encoder_decoder");
  for (const ClassifierRun* run : {&bits, &writer}) {
    const TrainedModel trained = load_trained_model(run->folder());
    CHECK_FALSE(label_refusal(trained).empty());
    CHECK_THROWS_AS(predict_lines(trained, {"1 0"}), ConfigError);
  }
  CHECK(label_refusal(load_trained_model(bits.folder())).find("'bit_xor' reads vectors") !=
        std::string::npos);

  const ClassifierRun lists(kListOps);
  const TrainedModel trained = load_trained_model(lists.folder());
  CHECK(label_refusal(trained).empty());
  CHECK_THROWS_AS(predict_lines(trained, {"[MAX 1 2 ]", "[ MAX 1 2 ]"}, 4), DataError);
  CHECK_THROWS_WITH(predict_lines(trained, {"[MAX 1 2 ]", "[ MAX 1 2 ]"}, 4),
                    containing("line 6") && containing("symbol 1"));
}
