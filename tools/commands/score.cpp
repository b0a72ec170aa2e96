// attnlab score: BLEU or chrF of a file of hypotheses; with a second system, paired bootstrap.
#include <fmt/core.h>

#include "command.h"
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
struct ScoreChoice {
  std::shared_ptr<ScoreSpec> score;
  void fields(Fields& f) { f.kind("score", score, "how hypotheses are compared with references"); }
};

std::shared_ptr<ScoreSpec> score_of(const Options& options) {
  std::vector<std::string> assignments{"score.kind=" + options.metric};
  for (const auto& item : options.assignments) assignments.push_back("score." + item);
  ScoreChoice choice;
  read_spec(Tree::load({}, assignments), choice);
  return choice.score;
}

int score(const Options& options) {
  const auto spec = score_of(options);
  const auto system = read_lines(options.system);
  std::vector<Lines> references;
  for (const auto& file : options.references) references.push_back(read_lines(file));
  const auto print = [&](const Lines& lines) {
    const Score result = spec->corpus_score(lines, references);
    fmt::print("{} = {:.2f}{}{}\n{}\n", result.name, result.value, result.details.empty() ? "" : " ",
               result.details, result.signature);
  };
  print(system);
  if (options.baseline.empty()) return 0;
  const auto baseline = read_lines(options.baseline);
  print(baseline);
  const auto paired = paired_bootstrap(*spec, spec->statistics(baseline, references),
                                       spec->statistics(system, references), options.bootstrap);
  fmt::print(
      "paired bootstrap over {} resamples: system {:.2f} +- {:.2f}, baseline {:.2f} +- {:.2f}, p = {:.4f}\n",
      options.bootstrap.resamples, paired.system.mean, paired.system.interval, paired.baseline.mean,
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
