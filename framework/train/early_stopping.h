// Which validation was the best so far, and when to stop because none gets better.
#pragma once

#include <optional>
#include <string>

#include "core/dtype.h"
#include "train/record.h"

namespace attnlab {

class Fields;
struct ExperimentSpec;
struct Task;

struct EarlyStoppingSpec {
  std::string metric = "valid_nll";      // a column of metrics.csv; also chooses the best checkpoints
  std::optional<bool> higher_is_better;  // unset: for scores such as BLEU, chrF and accuracy
  std::int64_t patience = 0;             // validations without gain before stopping; 0: never
  double minimum_gain = 0;
  std::optional<double> target;  // stop once the metric is as good as this
  void fields(Fields& f);
  bool higher() const;  // whether more is better
};

// What a checkpoint keeps.
struct BestSoFar {
  std::optional<double> score;
  Index step = 0;
  Index validations_without_gain = 0;
  bool operator==(const BestSoFar&) const = default;
};

// Takes the score of one validation into account; true if it is the best so far. One that is not finite
// never is.
bool note_score(const EarlyStoppingSpec& spec, double score, Index step, BestSoFar& best);
// Whether the target is reached, or patience has run out.
bool should_stop(const EarlyStoppingSpec& spec, const BestSoFar& best);
// The metric's value in a line of metrics. Throws ConfigError with the names that there are.
double score_of(const EarlyStoppingSpec& spec, const Record& metrics);

// Whether validations decode, too: labels of whole examples are scored by the validation's accuracy already.
bool decodes_validation(const ExperimentSpec& spec, const Task& task);
// Before a run: throws ConfigError for a metric that its validations will not have, with the names that there
// will be, and for a rule to stop by without a validation split.
void check_early_stopping(const ExperimentSpec& spec, const Task& task);

}  // namespace attnlab
