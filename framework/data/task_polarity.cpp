// The task `polarity`: sentences of film reviews, praise or not (Pang and Lee 2005). The files have no
// splits: the last tenth of each is the test, the tenth before it the validation.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "config/registry.h"
#include "core/error.h"
#include "data/data_set.h"
#include "data/encode.h"
#include "data/files.h"
#include "data/labels.h"
#include "data/task_spec.h"
#include "data/tokenizer_spec.h"
#include "data/unicode.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Split {
  Lines lines;
  std::vector<Token> labels;
};

// The accuracy of naive Bayes over words (add-one smoothing): what the words alone say.
double naive_bayes(const Split& train, const Split& test) {
  std::unordered_map<std::string, std::array<double, 2>> counts;
  std::array<double, 2> totals{}, classes{};
  for (std::size_t i = 0; i < train.lines.size(); ++i) {
    const auto label = static_cast<std::size_t>(train.labels[i]);
    classes[label] += 1;
    for (const auto word : split_at_spaces(train.lines[i])) {
      counts[std::string(word)][label] += 1;
      totals[label] += 1;
    }
  }
  Index right = 0;
  const auto words = static_cast<double>(counts.size());
  for (std::size_t i = 0; i < test.lines.size(); ++i) {
    double odds = std::log(classes[1] / classes[0]);
    for (const auto word : split_at_spaces(test.lines[i])) {
      const auto found = counts.find(std::string(word));
      if (found == counts.end()) continue;
      odds += std::log((found->second[1] + 1) / (totals[1] + words)) -
              std::log((found->second[0] + 1) / (totals[0] + words));
    }
    right += (odds > 0) == (test.labels[i] == 1) ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(test.lines.size(), 1));
}

struct Polarity final : TaskSpec {
  std::string folder = "sentence-polarity", negative = "rt-polarity.neg", positive = "rt-polarity.pos";
  std::shared_ptr<TokenizerSpec> tokenizer = Registry<TokenizerSpec>::make("word");
  Index max_tokens = 128, train_examples = 0, valid_examples = 0, test_examples = 0;

  void fields(Fields& f) override {
    f("folder", folder, "of the files, within data.root unless absolute");
    f("negative", negative, "file of the negative sentences");
    f("positive", positive, "file of the positive sentences");
    f.kind("tokenizer", tokenizer, "vocabulary, learned from the training sentences where it is learned");
    f("max_tokens", max_tokens, at_least(3), "longer sentences are cut", "tokens");
    f("train_examples", train_examples, at_least(0),
      "so many of the training split, half of each class; 0: all", "sentences");
    f("valid_examples", valid_examples, at_least(0), "so many of the validation split, likewise",
      "sentences");
    f("test_examples", test_examples, at_least(0), "so many of the test split, likewise", "sentences");
    f.check(tokenizer != nullptr, "tokenizer", "must be set");
  }

  Task load(const fs::path& root) const override {
    Split train, valid, test;
    take(root, negative, 0, train, valid, test);
    take(root, positive, 1, train, valid, test);
    Task task;
    task.source = learned_tokenizer(*tokenizer, train.lines, root / "cache" / "vocabularies");
    task.target = std::make_shared<Labels>(Lines{"negative", "positive"});
    task.labels = 1;
    task.metrics = {"accuracy"};
    task.tests.push_back({"test", {}});
    fill(task, train, task.train);
    fill(task, valid, task.valid);
    fill(task, test, task.tests.front().corpus);
    task.baselines = {{"majority", majority_accuracy(task.train, task.tests.front().corpus)},
                      {"naive Bayes on words", naive_bayes(train, test)}};
    task.notes.push_back(join_text("vocabulary: ", task.source->size(), " entries"));
    return task;
  }

  std::optional<FramedText> frame(const Tokenizer& source, std::vector<Token> ids) const override {
    return between_symbols(source, std::move(ids), max_tokens);
  }

  std::vector<TextSplit> texts(const fs::path& root) const override {
    return {{"negative", {expected_data_file(root, folder, negative)}},
            {"positive", {expected_data_file(root, folder, positive)}}};
  }

 private:
  void take(const fs::path& root, const std::string& name, Token label, Split& train, Split& valid,
            Split& test) const {
    const fs::path path = find_data_file(root, folder, name);
    const Lines lines = read_lines(path);
    const std::size_t tenth = lines.size() / 10;
    if (tenth == 0) throw DataError(path.string() + ": too few sentences for three splits");
    const std::size_t rest = lines.size() - 2 * tenth;
    add(lines, 0, rest, train_examples, label, train);
    add(lines, rest, tenth, valid_examples, label, valid);
    add(lines, rest + tenth, tenth, test_examples, label, test);
  }

  // `count` lines from `first` on, or the first of them where fewer are wanted of both classes together.
  static void add(const Lines& lines, std::size_t first, std::size_t count, Index wanted, Token label,
                  Split& split) {
    if (wanted > 0) count = std::min(count, static_cast<std::size_t>(wanted / 2 + wanted % 2));
    for (std::size_t i = first; i < first + count; ++i) {
      split.lines.push_back(lines[i]);
      split.labels.push_back(label);
    }
  }

  void fill(const Task& task, const Split& split, Corpus& corpus) const {
    const auto ids = encode_lines(*task.source, split.lines);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      Example example;
      example.source = frame(*task.source, ids[i])->ids;
      example.target = label_target({split.labels[i]});
      corpus.examples.push_back(std::move(example));
      corpus.sources.push_back(split.lines[i]);
      corpus.references.push_back(task.target->piece(split.labels[i]));
    }
  }
};

const Registered<TaskSpec, Polarity> registered{"polarity", "sentences of film reviews: praise or not"};

}  // namespace
}  // namespace attnlab
