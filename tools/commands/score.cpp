// attnlab score: BLEU or chrF of a file of hypotheses; with a second system, paired bootstrap.
#include <fmt/core.h>

#include <algorithm>

#include "command.h"
#include "config/error.h"
#include "config/registry.h"
#include "config/spec.h"
#include "data/files.h"
#include "train/bootstrap.h"

namespace attnlab {
namespace {

struct Options {
  std::string system, baseline, metric = "bleu";
  std::vector<std::string> references, assignments;
  BootstrapOptions bootstrap;
};

// The score's own keys may be set with --set tokenize=char and so on.
std::shared_ptr<ScoreSpec> score_of(const Options& options) {
  std::shared_ptr<ScoreSpec> score;
  try {
    score = Registry<ScoreSpec>::make(options.metric);
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("error: --metric: ") + error.what());
  }
  read_spec(Tree::load({}, options.assignments), *score);
  return score;
}

// BLEU and chrF are out of a hundred, and stand as sacreBLEU prints them; shares need more decimals.
int decimals_of(const Score& score) {
  const bool of_hundred = score.name.starts_with("BLEU") || score.name.starts_with("chrF");
  return of_hundred || score.value > 1 ? 2 : 4;
}

int score(const Options& options) {
  const auto spec = score_of(options);
  const auto system = read_lines(options.system);
  std::vector<Lines> references;
  for (const auto& file : options.references) references.push_back(read_lines(file));
  const auto print = [&](const Lines& lines) {
    const Score result = spec->corpus_score(lines, references);
    fmt::print("{} = {:.{}f}{}{}\n{}\n", result.name, result.value, decimals_of(result),
               result.details.empty() ? "" : " ", result.details, result.signature);
    return decimals_of(result);
  };
  int decimals = print(system);
  if (options.baseline.empty()) return 0;
  const auto baseline = read_lines(options.baseline);
  decimals = std::max(decimals, print(baseline));
  const auto paired = paired_bootstrap(*spec, spec->statistics(baseline, references),
                                       spec->statistics(system, references), options.bootstrap);
  fmt::print(
      "paired bootstrap over {0} resamples: system {2:.{1}f} +- {3:.{1}f}, baseline {4:.{1}f} +- {5:.{1}f}, "
      "p = {6:.4f}\n",
      options.bootstrap.resamples, decimals, paired.system.mean, paired.system.interval, paired.baseline.mean,
      paired.baseline.interval, paired.p_value);
  return 0;
}

const Command command{
    "score", "BLEU or chrF of a file against references", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("--sys", options->system, "hypotheses, one a line")->required();
      app.add_option("--ref", options->references, "references, one file a set")->required();
      app.add_option("--baseline", options->baseline, "a second system, compared by paired bootstrap");
      app.add_option("--metric", options->metric, "bleu, chrf or another registered score")
          ->capture_default_str();
      app.add_option("--set", options->assignments, "options of the score, such as tokenize=char")
          ->allow_extra_args(false);
      app.add_option("--resamples", options->bootstrap.resamples, "of the bootstrap")->capture_default_str();
      app.add_option("--seed", options->bootstrap.seed, "of the bootstrap")->capture_default_str();
      return [options] { return score(*options); };
    }};

}  // namespace
}  // namespace attnlab
