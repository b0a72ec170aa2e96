#include "study/baselines.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "train/score.h"

namespace attnlab {
namespace {

using Tokens = std::vector<Token>;
using Answer = std::function<Tokens(const Example&)>;  // without begin and end

Tokens words_of(const Example& example) {
  return example.target.size() < 2 ? Tokens() : Tokens(example.target.begin() + 1, example.target.end() - 1);
}

// The key with the largest count, the first of those that tie.
template <class Key>
Key most_frequent(const std::map<Key, Index>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Answer majority_answer(const Task& task) {
  std::map<Tokens, Index> counts;
  for (const Example& example : task.train.examples) ++counts[words_of(example)];
  return [answer = most_frequent(counts)](const Example&) { return answer; };
}

Answer answer_by_position(const Task& task) {
  std::vector<std::map<Token, Index>> counts;
  for (const Example& example : task.train.examples) {
    const Tokens words = words_of(example);
    if (counts.size() < words.size()) counts.resize(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) ++counts[i][words[i]];
  }
  Tokens best;
  for (const auto& place : counts) best.push_back(most_frequent(place));
  return [best](const Example& example) {
    const std::size_t length = words_of(example).size();
    return Tokens(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(std::min(length, best.size())));
  };
}

// Share of the tokens that a model would have to predict, the end among them, which stand where they should.
double accuracy(const Corpus& corpus, const Answer& answer, Token end) {
  Index right = 0, all = 0;
  for (const Example& example : corpus.examples) {
    Tokens given = answer(example);
    given.push_back(end);
    all += example.target_rows();
    for (std::size_t i = 0; i + 1 < example.target.size() && i < given.size(); ++i)
      right += given[i] == example.target[i + 1] ? 1 : 0;
  }
  return all > 0 ? static_cast<double>(right) / static_cast<double>(all) : 0;
}

void add_scores(const Task& task, const std::string& split, const Corpus& corpus, const Lines& lines,
                Record& values) {
  for (const std::string& metric : task.metrics)
    if (metric != "perplexity" && corpus.references.size() == lines.size() && !lines.empty())
      values.set(split + "_" + metric, corpus_score(metric, lines, corpus.references).value);
}

Record values_of(const Task& task, const Answer& answer) {
  Record values;
  const auto lines_of = [&](const Corpus& corpus) {
    Lines lines;
    for (const Example& example : corpus.examples) lines.push_back(task.target->decode(answer(example)));
    return lines;
  };
  for (const NamedCorpus& test : task.tests)
    add_scores(task, test.name, test.corpus, lines_of(test.corpus), values);
  if (task.valid.examples.empty()) return values;
  add_scores(task, "valid", task.valid, lines_of(task.valid), values);
  values.set("valid_accuracy", accuracy(task.valid, answer, task.target->eos()));
  return values;
}

Record copied_sources(const Task& task) {
  Record values;
  for (const NamedCorpus& test : task.tests)
    add_scores(task, test.name, test.corpus, test.corpus.sources, values);
  add_scores(task, "valid", task.valid, task.valid.sources, values);
  return values;
}

// Nats a token of a corpus under smoothed frequencies of the training data.
Record unigram_values(const Task& task) {
  std::vector<double> counts(static_cast<std::size_t>(task.target->size()), 1);
  double sum = static_cast<double>(counts.size());
  for (const Example& example : task.train.examples)
    for (std::size_t i = 1; i < example.target.size(); ++i)
      counts[static_cast<std::size_t>(example.target[i])] += 1, sum += 1;
  const auto nll = [&](const Corpus& corpus) {
    double nats = 0, tokens = 0;
    for (const Example& example : corpus.examples)
      for (std::size_t i = 1; i < example.target.size(); ++i, tokens += 1)
        nats -= std::log(counts[static_cast<std::size_t>(example.target[i])] / sum);
    return tokens > 0 ? nats / tokens : 0.0;
  };
  Record values;
  for (const NamedCorpus& test : task.tests)
    for (const std::string& metric : task.metrics)
      if (metric == "perplexity") values.set(test.name + "_perplexity", std::exp(nll(test.corpus)));
  if (!task.valid.examples.empty()) {
    values.set("valid_nll", nll(task.valid));
    values.set("valid_perplexity", std::exp(nll(task.valid)));
  }
  return values;
}

}  // namespace

std::vector<Baseline> baselines_of(const Task& task) {
  std::vector<Baseline> all;
  if (task.train.examples.empty()) return all;
  if (task.labels > 0) {  // such a task says its own
    for (const TrivialBaseline& trivial : task.baselines) {
      Record values;
      values.set(task.tests.front().name + "_" + task.metrics.front(), trivial.score);
      all.push_back({trivial.name, "known to the task", values});
    }
    return all;
  }
  if (task.source) {
    all.push_back({"majority", "the most frequent answer", values_of(task, majority_answer(task))});
    all.push_back({"by_position", "the most frequent token at each place, as long as the right answer",
                   values_of(task, answer_by_position(task))});
    all.push_back({"copy", "the source as it is", copied_sources(task)});
  }
  all.push_back({"unigram", "tokens by their frequency", unigram_values(task)});
  return all;
}

}  // namespace attnlab
