#include "study/score_intervals.h"

#include <algorithm>
#include <cmath>

#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "study/hierarchical.h"
#include "train/bootstrap.h"
#include "train/experiment_spec.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Places = std::vector<std::size_t>;
using Scores = std::map<std::int64_t, double>;  // by seed

// The mean over as many seeds as there are, drawn with replacement; none without seeds.
void add_mean(const std::vector<double>& by_seed, Index resample, std::uint64_t draw_seed,
              std::vector<double>& means) {
  if (by_seed.empty()) return;
  const Draw draw = seeded_draw(draw_seed, std::ssize(by_seed));
  double sum = 0;
  for (std::size_t i = 0; i < by_seed.size(); ++i)
    sum += by_seed[static_cast<std::size_t>(draw(resample, static_cast<Index>(i)))];
  means.push_back(sum / static_cast<double>(by_seed.size()));
}

std::size_t place_of(const std::string& name, const std::vector<ScoredArm>& arms) {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [&](const auto& arm) { return arm.name == name; });
  return static_cast<std::size_t>(found - arms.begin());
}

std::vector<double> values_of(const Scores& scores) {
  std::vector<double> values;
  for (const auto& [seed, value] : scores) values.push_back(value);
  return values;
}

// Of the seeds that both have in one precision, as everywhere.
std::vector<double> differences_of(const ScoredArm& arm, const Scores& scores, const ScoredArm& baseline,
                                   const Scores& theirs) {
  std::vector<double> values;
  for (const auto& [seed, value] : scores) {
    const auto match = theirs.find(seed);
    const auto one = arm.precisions.find(seed), other = baseline.precisions.find(seed);
    const bool known = one != arm.precisions.end() && other != baseline.precisions.end();
    if (match != theirs.end() && (!known || one->second == other->second))
      values.push_back(value - match->second);
  }
  return values;
}

// The scores of all arms under one draw of sentences.
std::vector<Scores> scores_of(const ScoreSpec& spec, const std::vector<ScoredArm>& arms,
                              const Places& chosen) {
  std::vector<Scores> all;
  for (const ScoredArm& arm : arms) {
    Scores& scores = all.emplace_back();
    for (const auto& [seed, segments] : arm.seeds) scores[seed] = score_of(spec, segments, chosen);
  }
  return all;
}

std::size_t sentences_of(const std::vector<ScoredArm>& arms) {
  std::optional<std::size_t> sentences;
  for (const ScoredArm& arm : arms)
    for (const auto& [seed, segments] : arm.seeds)
      if (segments.size() != sentences.value_or(segments.size()))
        throw DataError("a bootstrap needs the same sentences for every seed and arm");
      else
        sentences = segments.size();
  if (sentences.value_or(0) == 0) throw DataError("a bootstrap needs seeds and sentences");
  return *sentences;
}

// Resampled means of an arm's scores, and of its differences from the baseline.
struct Resampled {
  std::vector<double> scores, differences;
};

// The test set and the kind of score that a metric, "test_2016_flickr_bleu", stands for.
struct ScoredSet {
  const NamedCorpus* test = nullptr;
  std::string score;
};

ScoredSet scored_set(const Task& task, const std::string& metric) {
  for (const NamedCorpus& test : task.tests)
    for (const std::string& score : task.metrics)
      if (score != "perplexity" && metric == test.name + "_" + score) return {&test, score};
  return {};
}

ExperimentSpec spec_of(const RunResult& run, const std::vector<std::string>& assignments) {
  ExperimentSpec spec;
  read_spec(Tree::load({(fs::path(run.folder) / "config.yaml").string()}, assignments), spec);
  return spec;
}

// Whether the run kept what it wrote for the test set that the metric is of.
bool kept(const RunResult& run, const std::string& metric) {
  const fs::path folder = run.folder;
  if (run.folder.empty() || !fs::exists(folder / "config.yaml") || !fs::exists(folder / "outputs"))
    return false;
  const fs::directory_iterator files(folder / "outputs");
  return std::any_of(begin(files), end(files), [&metric](const fs::directory_entry& file) {
    return metric.starts_with(file.path().stem().string() + "_");
  });
}

}  // namespace

std::vector<ScoreInterval> score_intervals(const ScoreSpec& spec, const std::vector<ScoredArm>& arms,
                                           Index resamples, std::uint64_t draw_seed) {
  Places chosen(sentences_of(arms));
  const Draw sentence_draw = seeded_draw(draw_seed, std::ssize(chosen));
  std::vector<Resampled> resampled(arms.size());
  for (Index resample = 0; resample < resamples; ++resample) {
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = static_cast<std::size_t>(sentence_draw(resample, static_cast<Index>(i)));
    const std::vector<Scores> all = scores_of(spec, arms, chosen);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      add_mean(values_of(all[i]), resample, draw_seed + 1, resampled[i].scores);
      const std::size_t baseline = place_of(arms[i].baseline, arms);
      if (baseline != i && baseline < arms.size())
        add_mean(differences_of(arms[i], all[i], arms[baseline], all[baseline]), resample, draw_seed + 1,
                 resampled[i].differences);
    }
  }
  std::vector<ScoreInterval> intervals;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (resampled[i].scores.empty()) continue;
    ScoreInterval& one = intervals.emplace_back();
    one.arm = arms[i].name;
    one.score = central(resampled[i].scores);
    if (!resampled[i].differences.empty()) one.difference = central(resampled[i].differences);
    one.seeds = std::ssize(arms[i].seeds);
    one.sentences = std::ssize(chosen);
  }
  return intervals;
}

std::vector<ScoreInterval> score_intervals(const StudyResults& results,
                                           const std::vector<std::string>& assignments) {
  constexpr Index kResamples = 1000;
  constexpr std::uint64_t kDrawSeed = 12345;
  std::optional<Task> task;
  ScoredSet set;
  std::string data;  // that all arms must share
  std::shared_ptr<ScoreSpec> score;
  std::vector<ScoredArm> arms;
  for (const ArmResult& arm : results.arms) {
    ScoredArm& scored = arms.emplace_back(ScoredArm{arm.name, arm.baseline, {}, {}});
    for (const RunResult& run : arm.runs) {
      if (!kept(run, results.metric) || arm.values(results.metric).count(run.seed) == 0) continue;
      const ExperimentSpec spec = spec_of(run, assignments);
      if (!task) {
        task = spec.data.load();
        data = write_spec(spec.data);
        set = scored_set(*task, results.metric);
        if (set.test == nullptr) return {};
        score = Registry<ScoreSpec>::make(set.score);
      }
      const fs::path outputs = fs::path(run.folder) / "outputs" / (set.test->name + ".txt");
      if (write_spec(spec.data) != data || !fs::exists(outputs)) continue;
      if (!run.precision.empty()) scored.precisions[run.seed] = run.precision;
      scored.seeds[run.seed] = score->statistics(read_lines(outputs), {set.test->corpus.references});
    }
  }
  if (!task) return {};
  return score_intervals(*score, arms, kResamples, kDrawSeed);
}

}  // namespace attnlab
