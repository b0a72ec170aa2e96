// Which parameters train: glob patterns over parameter names, and presets that stand for patterns:
//   all                    everything
//   head_only              the output projection, where it is not tied to an embedding
//   norms, layernorm_only  gains and biases of every norm; norm_gains, norm_biases: one of them
//   input                  token tables, or the map of a model that reads vectors
//   positions              learned tables of positions
//   attention, mlp         their maps alone, without norms and adapters
//   last_attention, last_mlp   those of the last layer
//   fpt                    norms, input, positions and head (Lu et al. 2021, section 2.2)
// In patterns, {last} is the number of the last layer.
#pragma once

#include <cstdint>
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
// `last` is the number of the last layer, for {last}; below 0 it matches nothing.
bool matches(const std::string& pattern, const std::string& name, Index last = -1);
bool matches_any(const std::vector<std::string>& patterns, const std::string& name, Index last);
// Throws ConfigError, naming `key` ("train.frozen"), for every pattern that matches neither a parameter nor
// one of the other names.
void require_match(const std::string& key, const std::vector<std::string>& patterns,
                   const ParameterSet& parameters, const std::vector<std::string>& others = {});
// The number of the last layer that a name of the set speaks of; -1 without layers.
Index last_layer(const ParameterSet& parameters);

// CRC-32 of the numbers of everything that does not train: equal before and after training.
std::uint32_t frozen_digest(const ParameterSet& parameters);

// Name, shape, count and "trains" or "frozen" of each parameter, one a line, and the sums.
std::string trainable_table(const ParameterSet& parameters);

}  // namespace attnlab
