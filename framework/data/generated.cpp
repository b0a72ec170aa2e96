#include "data/generated.h"

#include <set>

#include "core/error.h"
#include "core/random.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

constexpr std::uint64_t kAttempts = 256;  // draws of one sequence before giving up

using Symbols = std::vector<Index>;

Symbols draw(const GeneratedSettings& settings, std::string_view split, std::uint64_t number) {
  const Random random(settings.seed, stream_name(split), number);
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

void check_settings(const GeneratedSettings& settings) {
  if (settings.min_length > settings.max_length) {
    throw DataError(join_text("generated task: min_length ", settings.min_length, " is above max_length ",
                              settings.max_length));
  }
  check(settings.symbols > 0 && settings.min_length > 0, "generated task: symbols and lengths are positive");
}

}  // namespace

Task generate_task(const GeneratedSettings& settings, Rule rule) {
  check_settings(settings);
  std::vector<std::string> words;
  for (Index i = 0; i < settings.symbols; ++i) words.push_back(std::to_string(i));
  Task task;
  task.source = task.target = std::make_shared<Vocabulary>(TokenUnit::word, words);
  task.metrics = {"exact_match"};
  task.best_score = 1.0;
  const auto add = [&task, rule](Corpus& corpus, const Symbols& symbols) {
    corpus.sources.push_back(line_of(symbols));
    corpus.references.push_back(line_of(rule(symbols)));
    corpus.examples.push_back({source_ids(*task.source, corpus.sources.back()),
                               target_ids(*task.target, corpus.references.back())});
  };
  std::set<Symbols> held_out;
  const auto add_held_out = [&settings, &held_out, &add](Corpus& corpus, std::string_view split,
                                                         Index count) {
    for (Index i = 0; i < count; ++i) {
      const Symbols symbols = draw(settings, split, static_cast<std::uint64_t>(i));
      held_out.insert(symbols);
      add(corpus, symbols);
    }
  };
  task.tests.push_back({"test", {}});
  add_held_out(task.valid, "data.valid", settings.valid);
  add_held_out(task.tests.front().corpus, "data.test", settings.test);
  for (Index i = 0; i < settings.train; ++i) {
    std::uint64_t attempt = static_cast<std::uint64_t>(i) * kAttempts;
    const std::uint64_t last = attempt + kAttempts;
    Symbols symbols = draw(settings, "data.train", attempt);
    while (held_out.contains(symbols) && ++attempt < last) symbols = draw(settings, "data.train", attempt);
    if (attempt == last) {
      throw DataError(join_text("generated task: with ", settings.symbols, " symbols and lengths ",
                                settings.min_length, " to ", settings.max_length,
                                " almost every sequence is held out for validation or test;",
                                " raise symbols or max_length, or lower valid and test"));
    }
    add(task.train, symbols);
  }
  return task;
}

}  // namespace attnlab
