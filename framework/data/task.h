// A task: what there is to learn, as examples in splits, with the tokenizers and the raw lines that scores
// need. Kinds of task register themselves, one .cpp each (`attnlab list task`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "data/example.h"
#include "data/tokenizer.h"

namespace attnlab {

// What a simple rule gets on the first test split, in the task's first metric.
struct TrivialBaseline {
  std::string name;
  double score = 0;
};

// Changes the numbers of one training example, in place: crops, flips and the like.
using Augment = std::function<void(std::span<float> vectors, const Random& random)>;

struct NamedCorpus {
  std::string name;  // "test_2016_flickr"
  Corpus corpus;
};

struct Task {
  Corpus train, valid;
  std::vector<NamedCorpus> tests;
  std::shared_ptr<const Tokenizer> source;  // null for a language model, and where vectors are read
  std::shared_ptr<const Tokenizer> target;  // the same object as `source` when the vocabulary is joint
  std::vector<std::string>
      metrics;  // "bleu", "chrf", "exact_match", "accuracy" or "perplexity"; the first decides
  std::optional<double> best_score;  // the score of a perfect model, where it is known
  std::vector<std::string> notes;    // what the log should say: counts, lines dropped
  Index vector_width = 0;            // columns of the vectors that are read instead of ids; 0: ids
  Index labels = 0;                  // of each example, which are its target; 0: the target is a sequence
  Index label_rows = 1;  // the last rows of the input that they stand on, where the head looks there
  std::vector<TrivialBaseline> baselines;
  Augment augment;  // may be empty
  bool joint() const { return source != nullptr && source == target; }
};

// Identity of all that a model is trained and scored on: ids and lines of every split, and the vocabularies.
std::string content_hash(const Task& task);

}  // namespace attnlab
