// Generated tasks: random sequences of symbols and a rule that turns each into its target. A sequence is a
// pure function of (seed, split, number); no training sequence stands in the other splits.
#pragma once

#include <cstdint>
#include <vector>

#include "data/task.h"

namespace attnlab {

struct GeneratedSettings {
  Index symbols = 20;                     // different symbols, written 0, 1, 2, …
  Index min_length = 1, max_length = 12;  // symbols in a sequence
  Index train = 20000, valid = 500, test = 500;
  std::uint64_t seed = 1;  // of the data alone, so that runs of several seeds share it
};

using Rule = std::vector<Index> (*)(std::vector<Index> symbols);

// Examples with source x </s> and target <s> rule(x) </s>, scored by exact match, whose best value is 1.
// Throws DataError where the settings allow too few different sequences to keep the splits apart.
Task generate_task(const GeneratedSettings& settings, Rule rule);

}  // namespace attnlab
