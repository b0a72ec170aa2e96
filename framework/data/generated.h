// Generated tasks: random sequences of symbols and a rule that turns each into its target. No training
// sequence stands in the other splits, lengths are spread evenly in each, and a longer training split begins
// like a shorter one. Of a length with few different sequences half are for training and a quarter for each
// other split, so that what is tested is of lengths that were learned. A task of this sort derives from
// GeneratedSpec in a .cpp of its own and registers itself.
#pragma once

#include <vector>

#include "data/task_spec.h"

namespace attnlab {

struct GeneratedSpec : TaskSpec {
  Index symbols = 20;
  Index min_length = 1, max_length = 12;
  Index train = 20000, valid = 500, test = 500;
  Index seed = 1;

  void fields(Fields& f) override;
  // Examples with source x </s> and target <s> rule(x) </s>, scored by exact match, whose best value is 1.
  // Throws DataError where the settings allow too few different sequences to keep the splits apart.
  Task load(const std::filesystem::path& root) const override;
  // What the model should answer to these symbols, each in [0, symbols).
  virtual std::vector<Index> rule(std::vector<Index> sequence) const = 0;
};

}  // namespace attnlab
