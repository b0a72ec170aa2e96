// A task: what there is to learn, as examples in splits, with the tokenizers and the raw lines that scores
// need. Kinds of task register themselves, one .cpp each (`attnlab list task`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/example.h"
#include "data/tokenizer.h"

namespace attnlab {

struct NamedCorpus {
  std::string name;  // "test_2016_flickr"
  Corpus corpus;
};

struct Task {
  Corpus train, valid;
  std::vector<NamedCorpus> tests;
  std::shared_ptr<const Tokenizer> source;  // null for a language model
  std::shared_ptr<const Tokenizer> target;  // the same object as `source` when the vocabulary is joint
  std::vector<std::string> metrics;  // "bleu", "chrf", "exact_match" or "perplexity"; the first decides
  std::optional<double> best_score;  // the score of a perfect model, where it is known
  std::vector<std::string> notes;    // what the log should say: counts, lines dropped
  bool joint() const { return source != nullptr && source == target; }
};

// Identity of all that a model is trained and scored on: ids and lines of every split, and the vocabularies.
std::string content_hash(const Task& task);

}  // namespace attnlab
