#include "train/published_departures.h"

#include <algorithm>
#include <array>
#include <memory>

#include "config/spec.h"
#include "core/error.h"
#include "train/log.h"
#include "train/published_model.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

bool is_harmless(const std::string& key) {
  // Another vocabulary is spoken of below, or does not fit the table.
  constexpr std::array kHarmless{"dropout", ".layers", "positions.max_length", "vocabulary"};
  return std::any_of(kHarmless.begin(), kHarmless.end(),
                     [&key](const char* part) { return key.find(part) != std::string::npos; });
}

// The table of what the model reads, and how many words the task has for it; 0 where it reads vectors.
std::pair<std::string, Index> words_read(const ModelSpec& spec, const VocabularySizes& vocabulary) {
  if (vocabulary.vectors > 0) return {"", 0};
  if (spec.has_encoder()) return {"source_embedding.weight", vocabulary.source};
  return {"target_embedding.weight", spec.pooled() ? vocabulary.source : vocabulary.target};
}

}  // namespace

std::vector<std::string> published_departures(const ExperimentSpec& spec, const VocabularySizes& vocabulary) {
  std::vector<std::string> found;
  const std::string& from = spec.model.from;
  if (!is_published_model(from)) return found;
  const Tree stated = Tree::parse(published_keys(from), from);
  const auto published = std::make_unique<ExperimentSpec>();
  read_fields(stated, fields_of(*published));
  for (const SpecDifference& one : diff(*published, spec))
    if (stated.where(one.path) && !is_harmless(one.path))
      found.push_back(one.path + ": " + one.b + ", but " + from + " was trained with " + one.a);
  const auto [table, words] = words_read(spec.model, vocabulary);
  const Index rows = spec.model.vocabulary.value_or(words);
  // Tables may have a few rows more than there are words.
  if (words > 0 && words < rows - rows / 100 && !matches_any(spec.model.reinit, table, {}))
    found.push_back(join_text("data.task has a vocabulary of ", words, " words, but the token table of ",
                              from, " has ", rows,
                              " rows: the same ids mean other words; say data.task.tokenizer: "
                              "{kind: word_pieces, byte_pairs or sentence_piece, path: ",
                              from, "}, or model.reinit: [", table, "] if that is meant"));
  return found;
}

void warn_of_departures(const ExperimentSpec& spec, const VocabularySizes& vocabulary) {
  for (const std::string& one : published_departures(spec, vocabulary)) log_warning(one);
}

}  // namespace attnlab
