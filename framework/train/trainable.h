// Which parameters train: glob patterns over parameter names, and presets that stand for patterns.
//   all             *
//   layernorm_only  *norm*    gains and biases of every layer norm
//   head_only       output*   the output projection, where it is not tied to an embedding
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/parameter.h"

namespace attnlab {

struct TrainableSpec {
  std::vector<std::string> trainable{"all"};  // patterns or presets: what trains …
  std::vector<std::string> frozen;            // … except for this
};

// A parameter trains if it matches a trainable pattern and no frozen one; a buffer (head gates) only if the
// pattern ends in its own name, as in *.gates. Throws ConfigError for a pattern that matches nothing, and
// when nothing is left to train.
std::function<bool(const Parameter&)> select_trainable(const TrainableSpec& spec,
                                                       const ParameterSet& parameters);

// Whether a name matches a pattern or preset: * stands for any text, dots included, ? for one character.
bool matches(const std::string& pattern, const std::string& name);

// Name, shape, count and "trains" or "frozen" of each parameter, one a line, and the sums.
std::string trainable_table(const ParameterSet& parameters);

}  // namespace attnlab
