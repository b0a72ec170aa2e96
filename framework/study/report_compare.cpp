#include "study/report_compare.h"

#include "config/error.h"
#include "config/spec.h"
#include "data/files.h"
#include "study/pruning.h"
#include "train/trained_model.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ExperimentSpec> spec_of(const fs::path& run, const std::vector<std::string>& assignments) {
  auto spec = std::make_unique<ExperimentSpec>();
  read_spec(Tree::load({(run / "config.yaml").string()}, assignments), *spec);
  return spec;
}

void add_pair(const NamedCorpus& test, const ScoreSpec& spec, const std::string& metric,
              const std::vector<SegmentStatistics>& a, const std::vector<SegmentStatistics>& b,
              RunComparison& comparison) {
  const PairedBootstrap paired = paired_bootstrap(spec, a, b, BootstrapOptions{});
  comparison.scores.push_back({test.name, metric, spec.score(sum_of(a), 1).signature, paired.baseline.score,
                               paired.system.score, paired.baseline.interval, paired.system.interval,
                               paired.p_value});
}

void compare_outputs(const fs::path& a, const fs::path& b, const NamedCorpus& test,
                     const std::vector<std::string>& metrics, RunComparison& comparison) {
  const std::string file = test.name + ".txt";
  for (const fs::path& run : {a, b})
    if (!fs::exists(run / "outputs" / file)) {
      comparison.problems.push_back(run.string() + " has no outputs/" + file);
      return;
    }
  const Lines left = read_lines(a / "outputs" / file), right = read_lines(b / "outputs" / file);
  for (const std::string& metric : metrics) {
    const auto spec = Registry<ScoreSpec>::make(metric);
    add_pair(test, *spec, metric, spec->statistics(left, {test.corpus.references}),
             spec->statistics(right, {test.corpus.references}), comparison);
  }
}

void compare_likelihoods(const fs::path& a, const fs::path& b, const NamedCorpus& test,
                         const std::vector<std::string>& assignments, RunComparison& comparison) {
  std::vector<std::vector<SegmentStatistics>> segments;
  std::shared_ptr<const ScoreSpec> spec;
  for (const fs::path& run : {a, b}) {
    const TrainedModel trained = load_trained_model(run, assignments);
    const PruningScore score(trained.model(), *trained.target, test.corpus, "log_likelihood",
                             trained.spec->decode);
    segments.push_back(score.segments());
    spec = score.spec();
  }
  add_pair(test, *spec, "log_likelihood", segments[0], segments[1], comparison);
}

}  // namespace

RunComparison compare_runs(const fs::path& a, const fs::path& b,
                           const std::vector<std::string>& assignments) {
  RunComparison comparison;
  try {
    const Task task = spec_of(a, assignments)->data.load();
    const auto other = spec_of(b, assignments)->data.load();
    for (const NamedCorpus& test : task.tests) {
      const auto same =
          std::find_if(other.tests.begin(), other.tests.end(), [&test](const NamedCorpus& candidate) {
            return candidate.name == test.name && candidate.corpus.references == test.corpus.references;
          });
      if (same == other.tests.end()) {
        comparison.problems.push_back("the two runs are not scored on the same '" + test.name + "'");
      } else if (task.metrics.front() == "perplexity") {
        compare_likelihoods(a, b, test, assignments, comparison);
      } else {
        compare_outputs(a, b, test, task.metrics, comparison);
      }
    }
  } catch (const ConfigError& error) {
    comparison.problems.push_back(std::string("no paired test: ") + error.what());
  } catch (const Error& error) {
    comparison.problems.push_back(std::string("no paired test: ") + error.what());
  }
  return comparison;
}

}  // namespace attnlab
