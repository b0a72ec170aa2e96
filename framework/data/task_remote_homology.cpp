// The task `remote_homology`: to which of 1,195 folds does a protein belong, whose relatives of the same
// superfamily were never seen? (Rao et al. 2019, from Hou et al. 2018.)
#include <algorithm>
#include <array>
#include <cmath>

#include "config/registry.h"
#include "core/error.h"
#include "core/parallel.h"
#include "data/data_set.h"
#include "data/files.h"
#include "data/labels.h"
#include "data/proteins.h"
#include "data/task_spec.h"
#include "data/test_names.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLetters = 26;
using Composition = std::array<double, kLetters>;  // share of each residue

Composition composition_of(const std::string& residues) {
  Composition shares{};
  for (const char residue : residues)
    shares[static_cast<std::size_t>(residue - 'A')] += 1 / static_cast<double>(residues.size());
  return shares;
}

// How often the training protein of the most similar composition has the right label: what can be said
// without looking at the order. Of the same proteins as the scores: those that are not left out.
double nearest_composition(const Corpus& train, const Corpus& test) {
  std::vector<Composition> known;
  for (const std::string& residues : train.sources) known.push_back(composition_of(residues));
  std::vector<char> right(test.sources.size(), 0);
  parallel_items(static_cast<Index>(test.sources.size()), [&train, &test, &known, &right](Index item) {
    const auto i = static_cast<std::size_t>(item);
    const Composition own = composition_of(test.sources[i]);
    double best = HUGE_VAL;
    for (std::size_t k = 0; k < known.size(); ++k) {
      double distance = 0;
      for (std::size_t j = 0; j < kLetters; ++j) distance += (known[k][j] - own[j]) * (known[k][j] - own[j]);
      if (distance >= best) continue;
      best = distance;
      right[i] = train.references[k] == test.references[i] ? 1 : 0;
    }
  });
  return static_cast<double>(std::count(right.begin(), right.end(), 1)) /
         static_cast<double>(std::max<std::size_t>(right.size(), 1));
}

std::vector<std::string> letters() {
  std::vector<std::string> all;
  for (char letter = 'A'; letter <= 'Z'; ++letter) all.emplace_back(1, letter);
  return all;
}

struct RemoteHomology final : TaskSpec {
  std::string folder = "remote_homology", train = "remote_homology_train.json",
              valid = "remote_homology_valid.json", label = "fold_label";
  std::vector<std::string> tests{"remote_homology_test_fold_holdout.json",
                                 "remote_homology_test_superfamily_holdout.json",
                                 "remote_homology_test_family_holdout.json"};
  Index max_length = 1024;

  void fields(Fields& f) override {
    f("folder", folder, "of the files, within data.root unless absolute");
    f("train", train, "file of the training proteins");
    f("valid", valid, "file of the validation proteins");
    f("tests", tests, "files of test splits; the first decides");
    f("label", label,
      "which number is the class: fold_label, superfamily_label, family_label or class_label");
    f("max_length", max_length, at_least(1), "longer proteins are left out, and counted in the log",
      "residues");
    f.check(!tests.empty(), "tests", "names no file");
  }

  Task load(const fs::path& root) const override {
    const std::vector<std::string> names = names_of_tests(tests, "data.task.tests", name_of);
    const auto trained = read(root, train), validated = read(root, valid);
    std::vector<std::vector<Protein>> tested;
    for (const auto& name : tests) tested.push_back(read(root, name));
    Index classes = 0;
    const auto count_classes = [&classes](const std::vector<Protein>& proteins) {
      for (const Protein& protein : proteins) classes = std::max(classes, protein.label + 1);
    };
    for (const auto* split : {&trained, &validated}) count_classes(*split);
    for (const auto& split : tested) count_classes(split);
    Task task;
    task.source = std::make_shared<Vocabulary>(TokenUnit::character, letters());
    task.target = std::make_shared<Labels>(numbered(classes));
    task.labels = 1;
    task.metrics = {"accuracy"};
    fill(task, trained, "training", task.train);
    fill(task, validated, "validation", task.valid);
    for (std::size_t i = 0; i < tests.size(); ++i) {
      task.tests.push_back({names[i], {}});
      fill(task, tested[i], task.tests.back().name, task.tests.back().corpus);
    }
    const Corpus& first = task.tests.front().corpus;
    task.baselines = {{"majority", majority_accuracy(task.train, first)},
                      {"nearest composition", nearest_composition(task.train, first)}};
    return task;
  }

  // Residues alone, with nothing around them.
  std::optional<FramedText> frame(const Tokenizer& source, std::vector<Token> ids) const override {
    require_known(source, ids);
    return FramedText{std::move(ids)};
  }

 private:
  std::vector<Protein> read(const fs::path& root, const std::string& name) const {
    const fs::path path = find_data_file(root, folder, name);
    return parse_proteins(read_bytes(path), label, path.string());
  }

  // "remote_homology_test_fold_holdout.json" is the split test_fold_holdout.
  static TestName name_of(const fs::path& test) {
    const std::string prefix = "remote_homology_", stem = test.stem().string();
    return {stem.starts_with(prefix) ? stem.substr(prefix.size()) : stem,
            (test.parent_path() / stem).string()};
  }

  void fill(Task& task, const std::vector<Protein>& proteins, const std::string& split,
            Corpus& corpus) const {
    for (const Protein& protein : proteins) {
      if (static_cast<Index>(protein.residues.size()) > max_length) {
        ++corpus.dropped;
        continue;
      }
      Example example;
      example.source = frame(*task.source, task.source->encode(protein.residues))->ids;
      example.target = label_target({static_cast<Token>(protein.label)});
      corpus.examples.push_back(std::move(example));
      corpus.sources.push_back(protein.residues);
      corpus.references.push_back(task.target->piece(static_cast<Token>(protein.label)));
    }
    if (corpus.examples.empty())
      throw DataError(split + ": no protein has at most " + std::to_string(max_length) + " residues");
    if (corpus.dropped > 0)
      task.notes.push_back(
          join_text(split, ": ", corpus.dropped, " of ", proteins.size(), " proteins are longer than ",
                    max_length, " and left out; to count them as wrong, multiply accuracy by ",
                    static_cast<double>(corpus.examples.size()) / static_cast<double>(proteins.size())));
  }
};

const Registered<TaskSpec, RemoteHomology> registered{"remote_homology",
                                                      "proteins and their folds, from TAPE's JSON files"};

}  // namespace
}  // namespace attnlab
