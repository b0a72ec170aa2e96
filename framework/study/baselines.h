// Scores that need no model, computed from the data: what an answer that never looks, or only copies, would
// get. They stand beside the arms of a study as controls.
#pragma once

#include <string>
#include <vector>

#include "data/task.h"
#include "train/record.h"

namespace attnlab {

struct Baseline {
  std::string name, note;
  Record values;  // named as a run's results
};

// majority: the answer that is most frequent in the training data. by_position: the most frequent token at
// each place, as long as the right answer. copy: the source. unigram: tokens by their frequency in the
// training data, for valid_nll and perplexity. What does not fit the task is left out.
std::vector<Baseline> baselines_of(const Task& task);

}  // namespace attnlab
