#include "data/parallel_text.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "config/registry.h"
#include "core/error.h"
#include "data/data_set.h"
#include "data/encode.h"
#include "data/files.h"
#include "data/test_names.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct Pairs {
  std::string name;
  std::vector<std::string> source, target;
};

Pairs read_pairs(const ParallelTextSpec& spec, const fs::path& root, const std::string& split) {
  const fs::path source = find_data_file(root, spec.folder, spec.file_name(split, spec.source)),
                 target = find_data_file(root, spec.folder, spec.file_name(split, spec.target));
  Pairs pairs{fs::path(split).filename().string(), read_lines(source), read_lines(target)};
  if (pairs.source.size() != pairs.target.size()) {
    throw DataError(join_text(source.string(), " has ", pairs.source.size(), " lines, but ", target.string(),
                              " has ", pairs.target.size(),
                              "; line N of one must be the translation of line N of the other"));
  }
  if (pairs.source.empty()) throw DataError(source.string() + ": the file is empty");
  return pairs;
}

TestName name_of(const fs::path& test) { return {test.filename().string(), test.string()}; }

// Takes a validation and a test split out of `all`: two of every `period` different source lines. Equal
// source lines go the same way, so that none is learned and tested. `file` is for messages.
std::array<Pairs, 3> held_out(Pairs all, Index period, const std::string& file) {
  std::array<Pairs, 3> splits{Pairs{all.name, {}, {}}, Pairs{"valid", {}, {}}, Pairs{"test", {}, {}}};
  std::unordered_map<std::string, Index> numbers;
  for (std::size_t i = 0; i < all.source.size(); ++i) {
    const Index number = numbers.emplace(all.source[i], static_cast<Index>(numbers.size())).first->second;
    const Index left = period - 1 - number % period;
    Pairs& into = splits[left == 0 ? 1 : left == 1 ? 2 : 0];
    into.source.push_back(std::move(all.source[i]));
    into.target.push_back(std::move(all.target[i]));
  }
  if (splits[1].source.empty() || splits[2].source.empty())
    throw DataError(join_text(file, ": hold_out ", period, " of ", numbers.size(),
                              " different source lines leaves none for validation or test; lower it"));
  return splits;
}

// All lines become examples where `max_length` is 0; otherwise pairs with an empty or a longer side are left
// out.
Corpus corpus_of(Pairs pairs, const Task& task, Index max_length, std::vector<std::string>& notes) {
  const auto source = encode_lines(*task.source, pairs.source),
             target = encode_lines(*task.target, pairs.target);
  Corpus corpus;
  Index empty = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (max_length > 0) {
      const bool blank = source[i].empty() || target[i].empty();
      empty += blank ? 1 : 0;
      const auto longest = static_cast<Index>(std::max(source[i].size(), target[i].size()));
      if (blank || longest > max_length) {
        ++corpus.dropped;
        continue;
      }
    }
    Example example{source[i], {task.target->bos()}};
    example.source.push_back(task.source->eos());
    example.target.insert(example.target.end(), target[i].begin(), target[i].end());
    example.target.push_back(task.target->eos());
    corpus.examples.push_back(std::move(example));
    corpus.sources.push_back(std::move(pairs.source[i]));
    corpus.references.push_back(std::move(pairs.target[i]));
  }
  std::string note = join_text(pairs.name, ": ", corpus.examples.size(), " pairs");
  if (corpus.dropped > 0) {
    note += join_text(", ", corpus.dropped, " left out (", empty, " with an empty side, ",
                      corpus.dropped - empty, " longer than ", max_length, " tokens)");
  }
  notes.push_back(note);
  return corpus;
}

void learn_tokenizers(const ParallelTextSpec& spec, const Pairs& train, const fs::path& cache, Task& task) {
  if (spec.joint) {
    std::vector<std::string> both = train.source;
    both.insert(both.end(), train.target.begin(), train.target.end());
    task.source = task.target = learned_tokenizer(*spec.tokenizer, both, cache);
    return;
  }
  const auto& source = spec.source_tokenizer != nullptr ? spec.source_tokenizer : spec.tokenizer;
  const auto& target = spec.target_tokenizer != nullptr ? spec.target_tokenizer : spec.tokenizer;
  task.source = learned_tokenizer(*source, train.source, cache);
  task.target = learned_tokenizer(*target, train.target, cache);
}

// Scores live on a higher floor, so they are known here by name alone.
void check_scores(Fields& f, const std::vector<std::string>& scores) {
  f.check(!scores.empty(), "scores", "at least one is needed");
  const std::vector<RegistryEntry> entries = registry_entries("score");
  std::string known;
  for (const RegistryEntry& entry : entries) known += join_text(known.empty() ? "" : ", ", entry.name);
  for (const std::string& score : scores) {
    const bool found = std::any_of(entries.begin(), entries.end(),
                                   [&score](const RegistryEntry& entry) { return entry.name == score; });
    f.check(found, "scores", join_text("unknown score '", score, "'; known: ", known));
  }
}

const Registered<TaskSpec, ParallelTextSpec> registered{"parallel_text",
                                                        "translation: two files, line by line"};

}  // namespace

ParallelTextSpec::ParallelTextSpec() : tokenizer(Registry<TokenizerSpec>::make("subword")) {}

void ParallelTextSpec::fields(Fields& f) {
  f("folder", folder, "of the files, within data.root unless absolute: the name of a data set, mostly");
  f("source", source, "source language, the end of the file names");
  f("target", target, "target language, the end of the file names");
  f("train", train, "file without its language ('train' means train.en and train.de), or with {lang} in it");
  f("valid", valid, "file of the validation split; not read with hold_out");
  f("test", test, "files of the test splits; not read with hold_out");
  f("hold_out", hold_out, at_least(0),
    "0: splits have files of their own; N: of every N different source lines, one for validation and one for "
    "test");
  f.kind("tokenizer", tokenizer, "vocabulary, learned from the training split");
  f("joint", joint, "one vocabulary for both languages");
  f.optional_kind("source_tokenizer", source_tokenizer,
                  "of the source alone (unset: as tokenizer); needs joint: false");
  f.optional_kind("target_tokenizer", target_tokenizer,
                  "of the target alone (unset: as tokenizer); needs joint: false");
  f("max_length", max_length, at_least(1),
    "training pairs with a longer side are left out; validation and test are always whole", "tokens");
  f("scores", scores, "what validation and test are scored by (see `attnlab list score`); the first decides");
  const bool own = source_tokenizer != nullptr || target_tokenizer != nullptr;
  f.check(!(joint && own), "joint", "a tokenizer for one side alone needs joint: false");
  f.check(tokenizer != nullptr, "tokenizer", "must be set");
  f.check(hold_out == 0 || hold_out > 2, "hold_out",
          "must be 0 or at least 3: less leaves nothing to train on");
  check_scores(f, scores);
  f.check(source != target, "target", "must differ from source");
}

std::string ParallelTextSpec::file_name(const std::string& split, const std::string& language) {
  const std::string_view mark = "{lang}";
  const std::size_t at = split.find(mark);
  if (at == std::string::npos) return split + "." + language;
  return std::string(split).replace(at, mark.size(), language);
}

std::vector<TextSplit> ParallelTextSpec::texts(const fs::path& root) const {
  std::vector<std::string> names{train};
  if (hold_out == 0) {
    names.push_back(valid);
    names.insert(names.end(), test.begin(), test.end());
  }
  std::vector<TextSplit> splits;
  for (const std::string& name : names) {
    splits.push_back({name,
                      {expected_data_file(root, folder, file_name(name, source)),
                       expected_data_file(root, folder, file_name(name, target))}});
  }
  return splits;
}

Task ParallelTextSpec::load(const fs::path& root) const {
  Pairs training = read_pairs(*this, root, train), validation;
  std::vector<Pairs> tests;
  if (hold_out > 0) {
    const fs::path file = find_data_file(root, folder, file_name(train, source));
    auto splits = held_out(std::move(training), hold_out, file.string());
    training = std::move(splits[0]);
    validation = std::move(splits[1]);
    tests.push_back(std::move(splits[2]));
  } else {
    validation = read_pairs(*this, root, valid);
    const std::vector<std::string> called = names_of_tests(test, "data.task.test", name_of);
    for (std::size_t i = 0; i < test.size(); ++i) {
      tests.push_back(read_pairs(*this, root, test[i]));
      tests.back().name = called[i];
    }
  }
  Task task;
  learn_tokenizers(*this, training, root / "cache" / "vocabularies", task);
  task.metrics = scores;
  task.train = corpus_of(std::move(training), task, max_length, task.notes);
  if (task.train.examples.empty()) {
    throw DataError(join_text("parallel_text: every training pair has an empty side or more than ",
                              max_length, " tokens"));
  }
  task.valid = corpus_of(std::move(validation), task, 0, task.notes);
  for (Pairs& pairs : tests) {
    const std::string name = pairs.name;
    task.tests.push_back({name, corpus_of(std::move(pairs), task, 0, task.notes)});
  }
  task.notes.push_back(join_text("vocabulary: ", task.source->size(), " source and ", task.target->size(),
                                 " target entries", task.joint() ? " (joint)" : ""));
  return task;
}

}  // namespace attnlab
