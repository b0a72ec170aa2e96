// An expectation about decoded text: the difference of two arms under resampling of seeds and sentences.
#include <fmt/format.h>

#include <algorithm>

#include "data/files.h"
#include "study/expectation.h"
#include "study/hierarchical.h"
#include "study/paired_arms.h"
#include "study/study.h"

namespace attnlab {
namespace {

struct BootstrapExpectation final : ExpectationSpec {
  PairedArms pair;
  std::string test;
  std::shared_ptr<ScoreSpec> score = Registry<ScoreSpec>::make("bleu");
  std::int64_t resamples = 1000, draw_seed = 12345;
  BandSpec band;

  void own_fields(Fields& f) override {
    pair.fields(f, "minus", "this one; empty: the baseline");
    f("test", test, "name of the test set; empty: the first");
    f.kind("score", score, "how outputs are compared with references");
    f("resamples", resamples, at_least(100), "of seeds and sentences");
    f("draw_seed", draw_seed, at_least(0), "of the draws");
    band.fields(f);
  }
  std::vector<std::string> arms() const override { return pair.names(); }
  bool costly() const override { return true; }

  Judgement judge(const StudyResults& results, const std::string&) const override {
    const auto [one, other] = pair.find(results);
    Judgement judgement;
    const std::vector<SeedPair> pairs = other ? pairs_of(*one, *other) : std::vector<SeedPair>{};
    judgement.seeds = std::ssize(pairs);
    if (pairs.empty()) return judgement.figures = "no outputs of both arms", judgement;
    const auto seed = static_cast<std::uint64_t>(draw_seed);
    const auto result =
        hierarchical_bootstrap(*score, pairs, resamples, seeded_draw(seed + 1, judgement.seeds),
                               seeded_draw(seed, static_cast<Index>(pairs[0].arm.size())));
    const auto outside = std::count_if(result.resampled.begin(), result.resampled.end(),
                                       [this](double difference) { return !band.holds(difference); });
    judgement.p_value = static_cast<double>(outside + 1) / static_cast<double>(resamples + 1);
    judgement.figures =
        fmt::format("{:.3g}, 95 % of resamples in [{:.3g}, {:.3g}], {} seeds by {} sentences; expected {}",
                    result.difference, result.interval.low, result.interval.high, pairs.size(),
                    pairs[0].arm.size(), band.text());
    judgement.decision = !band.holds(result.difference) ? Decision::not_reproduced
                         : judgement.p_value <= alpha   ? Decision::reproduced
                                                        : Decision::undecidable;
    return judgement;
  }

 private:
  std::vector<SeedPair> pairs_of(const ArmResult& one, const ArmResult& other) const {
    std::vector<SeedPair> pairs;
    std::optional<NamedCorpus> split;
    for (const RunResult& run : one.runs) {
      const RunResult* match = other.find(run.seed);
      if (match == nullptr || !has_folder(run) || !has_folder(*match) || !can_pair(run, *match)) continue;
      if (!split) split = split_of(run.folder);
      const auto a = outputs_of(run.folder, split->name), b = outputs_of(match->folder, split->name);
      if (!a || !b) continue;
      const std::vector<Lines> references{split->corpus.references};
      pairs.push_back({score->statistics(*a, references), score->statistics(*b, references)});
    }
    return pairs;
  }

  static bool has_folder(const RunResult& run) {
    const bool done = run.status == "done" || run.status == "early_stopped";
    return done && !run.folder.empty() && is_there(std::filesystem::path(run.folder) / "config.yaml");
  }

  // Without a name if the task has no such test set.
  NamedCorpus split_of(const std::filesystem::path& folder) const {
    const Task task = experiment_of(Tree::load({(folder / "config.yaml").string()}))->data.load();
    for (const NamedCorpus& split : task.tests)
      if (test.empty() || split.name == test) return split;
    return {};
  }

  static std::optional<Lines> outputs_of(const std::filesystem::path& folder, const std::string& name) {
    const std::filesystem::path file = folder / "outputs" / (name + ".txt");
    return is_there(file) ? std::optional<Lines>(read_lines(file)) : std::nullopt;
  }
};

const Registered<ExpectationSpec, BootstrapExpectation> registered{
    "bootstrap", "the difference of two arms' decoded text, resampling seeds and sentences"};

}  // namespace
}  // namespace attnlab
