#include "train/early_stopping.h"

#include <cmath>

#include "config/error.h"
#include "config/fields.h"
#include "data/task.h"
#include "train/experiment_spec.h"
#include "train/loss_sums.h"

namespace attnlab {

void EarlyStoppingSpec::fields(Fields& f) {
  f("metric", metric,
    "the metric that chooses the best checkpoint and stops the run, such as valid_nll or valid_bleu");
  f("higher_is_better", higher_is_better, "unset: yes for bleu, chrf, accuracy and match, no for the rest");
  f("patience", patience, at_least(0), "stop after so many validations without a gain; 0: never",
    "validations");
  f("minimum_gain", minimum_gain, at_least(0), "a smaller gain counts as none");
  f("target", target, "stop once the metric is as good as this; unset: never");
}

bool EarlyStoppingSpec::higher() const {
  if (higher_is_better) return *higher_is_better;
  for (const char* name : {"bleu", "chrf", "accuracy", "match"})
    if (metric.find(name) != std::string::npos) return true;
  return false;
}

bool note_score(const EarlyStoppingSpec& spec, double score, Index step, BestSoFar& best) {
  const double gain = !best.score ? 0 : spec.higher() ? score - *best.score : *best.score - score;
  const bool better = std::isfinite(score) && (!best.score || gain > spec.minimum_gain);
  if (better) {
    best = {score, step, 0};
  } else {
    ++best.validations_without_gain;
  }
  return better;
}

bool should_stop(const EarlyStoppingSpec& spec, const BestSoFar& best) {
  if (spec.target && best.score &&
      (spec.higher() ? *best.score >= *spec.target : *best.score <= *spec.target))
    return true;
  return spec.patience > 0 && best.validations_without_gain >= spec.patience;
}

double score_of(const EarlyStoppingSpec& spec, const Record& metrics) {
  if (metrics.find(spec.metric) != nullptr) return metrics.number(spec.metric);
  std::string names;
  for (const auto& field : metrics.fields()) names += (names.empty() ? "" : ", ") + field.first;
  throw ConfigError("error: train.early_stopping.metric: no metric '" + spec.metric +
                    "'; there are: " + names);
}

bool decodes_validation(const ExperimentSpec& spec, const Task& task) {
  return spec.train.validation_scores && !task.valid.references.empty() && task.labels == 0;
}

void check_early_stopping(const ExperimentSpec& spec, const Task& task) {
  const EarlyStoppingSpec& stopping = spec.train.early_stopping;
  if (task.valid.examples.empty()) {
    if (stopping.patience > 0 || stopping.target)
      throw ConfigError(std::string("error: train.early_stopping.") +
                        (stopping.patience > 0 ? "patience" : "target") +
                        ": this task has no validation split to stop by");
    return;
  }
  Record line{{"step", Index{0}}, {"epoch", 0.0}};  // the names of a validation's line, without its numbers
  line.append(LossSums().metrics("valid_"));
  if (decodes_validation(spec, task))
    for (const std::string& metric : task.metrics) line.set("valid_" + metric, 0.0);
  score_of(stopping, line);
}

}  // namespace attnlab
