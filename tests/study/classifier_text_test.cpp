// Probes and pruning of classifiers: on lines of one's own and on splits, scored by the labels they give.
#include "config/error.h"
#include "study/probe.h"
#include "study/pruning.h"
#include "support/catch.h"
#include "train/classifier_run.h"
#include "train/evaluation.h"
#include "train/log.h"
#include "train/predict.h"

using namespace attnlab;

namespace {

const std::string kFine = "a fine film number 3", kDull = "a dull film number 3 that goes on and on";

std::string path_of_text(const ClassifierRun& run, const std::string& content) {
  const auto path = run.root.path() / "text";
  write_file(path, content);
  return path.string();
}

}  // namespace

TEST_CASE("lines for a classifier: read as it reads its task's, labelled as given or by the model itself") {
  silence_log(true);
  const ClassifierRun run;
  const TrainedModel trained = load_for_probing(run.folder(), DType::f64);
  const auto own = predict_lines(trained, {kFine, kDull});
  const Corpus plain = text_corpus(trained, {kFine, kDull});
  CHECK(plain.references.empty());
  CHECK(plain.sources == std::vector<std::string>{kFine, kDull});
  REQUIRE(plain.examples.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(plain.examples[i].source == read_line(trained, plain.sources[i]).ids);
    CHECK(plain.examples[i].target == std::vector<Token>{0, *own[i].label});
  }
  for (const std::string name : {"negative", "positive"}) {
    const Corpus labelled = text_corpus(trained, {kFine + "\t" + name, kDull + "\t" + name});
    CHECK(labelled.references == std::vector<std::string>{name, name});
    CHECK(labelled.sources == plain.sources);
    for (const Example& example : labelled.examples) {
      REQUIRE(example.target.size() == 2);
      CHECK(trained.target->piece(example.target[1]) == name);
    }
  }
  const Corpus mixed = text_corpus(trained, {kFine + "\tnegative", kDull});
  CHECK(mixed.references.empty());
  CHECK(trained.target->piece(mixed.examples[0].target[1]) == "negative");
}

TEST_CASE("lines that a classifier cannot take are named; vectors have no lines") {
  silence_log(true);
  const ClassifierRun run;
  const TrainedModel trained = load_for_probing(run.folder(), DType::f64);
  CHECK_THROWS_AS(text_corpus(trained, {kFine, "film\tgreat"}), DataError);
  CHECK_THROWS_WITH(text_corpus(trained, {kFine, "film\tgreat"}),
                    containing("line 2") && containing("'great'") && containing("negative, positive"));
  CHECK_THROWS_WITH(text_corpus(trained, {kFine, "  "}), containing("line 2 of the text has no words"));
  const ClassifierRun bits("kind: bit_xor, train: 20", "kind: decoder, head: last");
  CHECK_THROWS_AS(text_corpus(load_for_probing(bits.folder(), DType::f64), {"1 0"}), ConfigError);
}

TEST_CASE("every probe measures a classifier on lines of one's own") {
  silence_log(true);
  for (const std::string model :
       {"kind: encoder, head: mean", "kind: encoder, head: cls", "kind: decoder, head: last"}) {
    const ClassifierRun run("kind: polarity, max_tokens: 8", model);
    TrainedModel trained = load_for_probing(run.folder(), DType::f64);
    for (const std::string& text :
         {kFine + "\n" + kDull + "\n", kFine + "\tpositive\n" + kDull + "\tnegative\n"}) {
      ProbeSubject subject = subject_of(trained);
      choose_sentences(trained, {.text = path_of_text(run, text)}, subject);
      CHECK(subject.metric == (text.find('\t') == std::string::npos ? "log_likelihood" : "accuracy"));
      for (const auto& probe : Registry<ProbeSpec>::list()) {
        CAPTURE(model, text, probe.name);
        const auto spec = make_probe(probe.name, {});
        if (!spec->refusal(trained.model().spec()).empty()) continue;
        CHECK(!run_probe(*spec, subject).numbers.fields().empty());
      }
    }
  }
}

TEST_CASE("what needs true labels says so where there are none") {
  silence_log(true);
  const ClassifierRun run;
  TrainedModel trained = load_for_probing(run.folder(), DType::f32);
  ProbeSubject subject = subject_of(trained);
  choose_sentences(trained, {.text = path_of_text(run, kFine + "\n" + kDull + "\n")}, subject);
  const auto probe = make_probe("head_pruning", {"metric=accuracy"});
  CHECK_THROWS_AS(run_probe(*probe, subject), ConfigError);
  CHECK_THROWS_WITH(run_probe(*probe, subject),
                    containing("'accuracy' needs references") && containing("metric=log_likelihood"));
}

TEST_CASE("the accuracy that pruning sees is the share of right labels") {
  silence_log(true);
  const ClassifierRun run;
  const TrainedModel trained = load_for_probing(run.folder(), DType::f32);
  Corpus corpus = run.loaded.train;
  const auto own = predict_lines(trained, corpus.sources);
  for (std::size_t i = 0; i < own.size(); ++i)  // three of four are right
    corpus.references[i] = trained.target->piece(i % 4 == 0 ? 1 - *own[i].label : *own[i].label);
  const PruningScore score(trained.model(), *trained.target, corpus, "accuracy", {});
  CHECK(score.of(score.segments()) == 0.75);
}

TEST_CASE("a pruning study of a classifier is by accuracy, where nothing else is asked for") {
  silence_log(true);
  for (const std::string task : {"kind: polarity, max_tokens: 8", "kind: bit_xor, train: 20"}) {
    CAPTURE(task);
    const ClassifierRun run(task, "kind: decoder, head: {pool: last, gain: 5}");
    TrainedModel trained = load_for_probing(run.folder(), DType::f32);
    ProbeSubject subject = subject_of(trained);
    choose_sentences(trained, {}, subject);
    const auto probe = make_probe("head_pruning", {"random_orders=2", "fractions=[0, 1]", "resamples=20"});
    const ProbeResult result = run_probe(*probe, subject);
    const Corpus& test = run.loaded.tests.front().corpus;
    const auto scores = score_split(trained.model(), run.loaded, "test", test, {}, 1).scores;
    CHECK(result.numbers.number("score") == scores.front().value);
    CHECK(result.notes.front().find("accuracy") != std::string::npos);
    CHECK(result.numbers.number("decoder.importance.without_0") == scores.front().value);
  }
}
