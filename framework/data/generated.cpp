#include "data/generated.h"

#include <set>

#include "core/error.h"
#include "core/random.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

constexpr std::uint64_t kAttempts = 256;  // draws of one sequence before giving up

using Symbols = std::vector<Index>;

Symbols draw(const GeneratedSpec& settings, std::string_view split, std::uint64_t number) {
  const Random random(static_cast<std::uint64_t>(settings.seed), stream_name(split), number);
  const auto lengths = static_cast<std::uint64_t>(settings.max_length - settings.min_length + 1);
  const auto length = settings.min_length + static_cast<Index>(random.below(0, lengths));
  Symbols symbols;
  for (Index i = 1; i <= length; ++i) {
    const auto symbol =
        random.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(settings.symbols));
    symbols.push_back(static_cast<Index>(symbol));
  }
  return symbols;
}

std::string line_of(const Symbols& symbols) {
  std::string line;
  for (const Index symbol : symbols) {
    if (!line.empty()) line += ' ';
    line += std::to_string(symbol);
  }
  return line;
}

// A training sequence that is not held out.
Symbols draw_new(const GeneratedSpec& settings, const std::set<Symbols>& held_out, std::uint64_t number) {
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    Symbols sequence = draw(settings, "data.train", number * kAttempts + attempt);
    if (!held_out.contains(sequence)) return sequence;
  }
  throw DataError(join_text("generated task: with ", settings.symbols, " symbols and lengths ",
                            settings.min_length, " to ", settings.max_length,
                            " almost every sequence is held out for validation or ",
                            "test; raise symbols or max_length, or lower valid and test"));
}

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
  std::set<Symbols> held_out;
  const auto add_held_out = [this, &held_out, &add](Corpus& corpus, std::string_view split, Index count) {
    for (Index i = 0; i < count; ++i) {
      const Symbols sequence = draw(*this, split, static_cast<std::uint64_t>(i));
      held_out.insert(sequence);
      add(corpus, sequence);
    }
  };
  add_held_out(task.valid, "data.valid", valid);
  add_held_out(task.tests.front().corpus, "data.test", test);
  for (Index i = 0; i < train; ++i) add(task.train, draw_new(*this, held_out, static_cast<std::uint64_t>(i)));
  return task;
}

}  // namespace attnlab
