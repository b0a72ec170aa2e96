#include "data/generated.h"

#include <cmath>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

using Symbols = std::vector<Index>;

constexpr std::uint64_t kAttempts = 256;  // draws of one sequence before giving up
constexpr double kRoom = 8;               // so many times the held-out sequences are plenty

const char* const kTrain = "data.train";
const char* const kValid = "data.valid";
const char* const kTest = "data.test";

std::string line_of(const Symbols& symbols) {
  std::string line;
  for (const Index symbol : symbols) {
    if (!line.empty()) line += ' ';
    line += std::to_string(symbol);
  }
  return line;
}

// Draws the sequences of all splits and keeps them apart: valid and test first, then train.
class Splits {
 public:
  explicit Splits(const GeneratedSpec& settings) : settings_(settings) {}

  // The sequence of this number in its split.
  Symbols draw(const std::string& split, std::uint64_t number) {
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      const bool again = attempt > 0 && split != kTrain;
      const std::string stream = again ? split + ".again" : split;
      const std::uint64_t at = again || split == kTrain ? number * kAttempts + attempt : number;
      const Index length = length_of(stream, at);
      std::optional<Symbols> sequence =
          few(length) ? draw_of_few(split, stream, at, length) : draw_of_many(split, stream, at, length);
      if (!sequence) continue;
      if (split != kTrain) held_out_.insert(*sequence);
      return *std::move(sequence);
    }
    throw DataError(join_text("generated task: with ", settings_.symbols, " symbols and lengths ",
                              settings_.min_length, " to ", settings_.max_length,
                              " almost every sequence is in other splits than ", split,
                              "; raise symbols or max_length, or lower valid and test"));
  }

 private:
  Random random(const std::string& stream, std::uint64_t number) const {
    return {static_cast<std::uint64_t>(settings_.seed), stream_name(stream), number};
  }

  Index length_of(const std::string& stream, std::uint64_t number) const {
    const auto lengths = static_cast<std::uint64_t>(settings_.max_length - settings_.min_length + 1);
    return settings_.min_length + static_cast<Index>(random(stream, number).below(0, lengths));
  }

  Symbols draw_of_length(const std::string& stream, std::uint64_t number, Index length) const {
    const Random numbers = random(stream, number);
    Symbols symbols;
    for (Index i = 1; i <= length; ++i)
      symbols.push_back(static_cast<Index>(
          numbers.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(settings_.symbols))));
    return symbols;
  }

  std::optional<Symbols> draw_of_many(const std::string& split, const std::string& stream, std::uint64_t at,
                                      Index length) const {
    Symbols sequence = draw_of_length(stream, at, length);
    if (split == kTrain && held_out_.contains(sequence)) return {};
    return sequence;
  }

  // Of a length with few sequences, those held out might leave none to learn from: each belongs to one split,
  // half of them to train. The length stays where the first draw is another's, or such lengths became rare.
  std::optional<Symbols> draw_of_few(const std::string& split, const std::string& stream, std::uint64_t at,
                                     Index length) const {
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      Symbols sequence = attempt == 0 ? draw_of_length(stream, at, length)
                                      : draw_of_length(stream + ".few", at * kAttempts + attempt, length);
      if (home_of(sequence) == split) return sequence;
    }
    return {};
  }

  bool few(Index length) const {
    return std::pow(static_cast<double>(settings_.symbols), static_cast<double>(length)) <
           kRoom * static_cast<double>(settings_.valid + settings_.test);
  }

  std::string home_of(const Symbols& sequence) const {
    const auto quarter = random("data.home " + line_of(sequence), 0).below(0, 4);
    return quarter < 2 ? kTrain : quarter == 2 ? kValid : kTest;
  }

  const GeneratedSpec& settings_;
  std::set<Symbols> held_out_;
};

}  // namespace

void GeneratedSpec::fields(Fields& f) {
  f("symbols", symbols, between(1, 1e6), "different symbols, written 0, 1, 2, …");
  f("min_length", min_length, at_least(1), "of a sequence", "symbols");
  f("max_length", max_length, at_least(1), "of a sequence", "symbols");
  f("train", train, at_least(1), "size of the split", "sequences");
  f("valid", valid, at_least(1), "size of the split", "sequences");
  f("test", test, at_least(1), "size of the split", "sequences");
  f("seed", seed, at_least(0), "of the data alone, so that runs of several seeds share it");
  f.check(min_length <= max_length, "min_length", "is above max_length");
}

Task GeneratedSpec::load(const std::filesystem::path&) const {
  std::vector<std::string> words;
  for (Index i = 0; i < symbols; ++i) words.push_back(std::to_string(i));
  Task task;
  task.source = task.target = std::make_shared<Vocabulary>(TokenUnit::word, words);
  task.metrics = {"exact_match"};
  task.best_score = 1.0;
  task.tests.push_back({"test", {}});
  const auto add = [this, &task](Corpus& corpus, const Symbols& sequence) {
    corpus.sources.push_back(line_of(sequence));
    corpus.references.push_back(line_of(rule(sequence)));
    corpus.examples.push_back({source_ids(*task.source, corpus.sources.back()),
                               target_ids(*task.target, corpus.references.back())});
  };
  Splits splits(*this);
  const auto fill = [&splits, &add](Corpus& corpus, const char* split, Index count) {
    for (Index i = 0; i < count; ++i) add(corpus, splits.draw(split, static_cast<std::uint64_t>(i)));
  };
  fill(task.valid, kValid, valid);
  fill(task.tests.front().corpus, kTest, test);
  fill(task.train, kTrain, train);
  return task;
}

}  // namespace attnlab
