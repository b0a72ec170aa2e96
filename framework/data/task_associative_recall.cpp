// The generated task `associative_recall` (Ba et al. 2016, section 4.1): pairs of a key and a value, then one
// of the keys; the label is its value. A model must bind each value to the key before it and then find the
// key of the query, so that tokens have to read each other: no sum over tokens taken one by one knows the
// answer.
#include <algorithm>
#include <set>

#include "config/registry.h"
#include "core/error.h"
#include "data/labels.h"
#include "data/task_spec.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

struct Recall {
  std::vector<Index> keys, values;
  std::vector<std::size_t> asked;  // pairs, one a query
};

struct AssociativeRecall final : TaskSpec {
  Index keys = 26, values = 10, min_pairs = 8, max_pairs = 8, queries = 4;
  Index train = 20000, valid = 1000, test = 1000, seed = 1;

  void fields(Fields& f) override {
    f("keys", keys, between(1, 1e6), "different keys, written k0, k1, …; none comes twice in an example");
    f("values", values, between(2, 1e6), "different values, written 0, 1, …, which are the labels");
    f("min_pairs", min_pairs, at_least(1), "of an example", "pairs");
    f("max_pairs", max_pairs, at_least(1), "of an example", "pairs");
    f("queries", queries, at_least(1), "of an example, the last rows; a key may be asked for again");
    f("train", train, at_least(1), "size of the split; all examples differ", "examples");
    f("valid", valid, at_least(1), "size of the split", "examples");
    f("test", test, at_least(1), "size of the split", "examples");
    f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
    f.check(min_pairs <= max_pairs, "min_pairs", "is above max_pairs");
    f.check(max_pairs <= keys, "max_pairs", "is above the number of keys");
  }

  Task load(const std::filesystem::path&) const override {
    Task task;
    std::vector<std::string> symbols = numbered(values);
    for (const std::string& key : numbered(keys)) symbols.push_back("k" + key);
    task.source = std::make_shared<Vocabulary>(TokenUnit::word, symbols);
    task.target = std::make_shared<Labels>(numbered(values));
    task.labels = task.label_rows = queries;
    task.metrics = {"accuracy"};
    task.best_score = 1.0;
    task.tests.push_back({"test", {}});
    Corpus& test_corpus = task.tests.front().corpus;
    std::set<std::string> seen;
    Index guesses_right = 0;
    for (const Recall& example : add(task, test_corpus, "data.associative_recall.test", test, seen))
      for (const std::size_t pair : example.asked)
        guesses_right += most_frequent(example.values) == example.values[pair] ? 1 : 0;
    add(task, task.valid, "data.associative_recall.valid", valid, seen);
    add(task, task.train, "data.associative_recall.train", train, seen);
    task.baselines = {{"majority", majority_accuracy(task.train, test_corpus)},
                      {"most frequent value shown",
                       static_cast<double>(guesses_right) / static_cast<double>(test * queries)}};
    return task;
  }

 private:
  Recall draw(const Random& random) const {
    const auto spread = static_cast<std::uint64_t>(max_pairs - min_pairs + 1);
    const Index pairs = min_pairs + static_cast<Index>(random.below(0, spread));
    Recall example;
    std::uint64_t next = 1;
    const auto below = [&random, &next](Index bound) {
      return static_cast<Index>(random.below(next++, static_cast<std::uint64_t>(bound)));
    };
    for (Index i = 0; i < queries; ++i) example.asked.push_back(static_cast<std::size_t>(below(pairs)));
    while (static_cast<Index>(example.keys.size()) < pairs) {
      const Index key = below(keys);
      if (std::find(example.keys.begin(), example.keys.end(), key) != example.keys.end()) continue;
      example.keys.push_back(key);
      example.values.push_back(below(values));
    }
    return example;
  }

  static std::string text_of(const Recall& example) {
    std::string text;
    for (std::size_t i = 0; i < example.keys.size(); ++i)
      text += "k" + std::to_string(example.keys[i]) + " " + std::to_string(example.values[i]) + " ";
    for (const std::size_t pair : example.asked) text += "k" + std::to_string(example.keys[pair]) + " ";
    text.pop_back();
    return text;
  }

  // The smallest of the values that come most often.
  static Index most_frequent(const std::vector<Index>& values) {
    const auto times = [&values](Index value) { return std::count(values.begin(), values.end(), value); };
    return *std::min_element(values.begin(), values.end(), [&times](Index a, Index b) {
      return times(a) != times(b) ? times(a) > times(b) : a < b;
    });
  }

  std::vector<Recall> add(const Task& task, Corpus& corpus, const char* stream, Index count,
                          std::set<std::string>& seen) const {
    std::vector<Recall> examples;
    for (std::uint64_t n = 0; static_cast<Index>(examples.size()) < count; ++n) {
      if (n > 1000 + 10 * static_cast<std::uint64_t>(count))
        throw DataError(join_text("associative_recall: hardly any example is new among ", keys, " keys, ",
                                  values, " values and ", min_pairs, " to ", max_pairs,
                                  " pairs; raise them, or lower the sizes of the splits"));
      const Recall drawn = draw(Random(static_cast<std::uint64_t>(seed), stream_name(stream), n));
      const std::string text = text_of(drawn);
      if (!seen.insert(text).second) continue;
      std::vector<Token> labels;
      for (const std::size_t pair : drawn.asked) labels.push_back(static_cast<Token>(drawn.values[pair]));
      Example example;
      example.source = task.source->encode(text);
      example.target = label_target(labels);
      corpus.examples.push_back(std::move(example));
      corpus.sources.push_back(text);
      corpus.references.push_back(task.target->decode(labels));
      examples.push_back(drawn);
    }
    return examples;
  }
};

const Registered<TaskSpec, AssociativeRecall> registered{"associative_recall",
                                                         "generated: the value that was shown with a key"};

}  // namespace
}  // namespace attnlab
