// Which parameters train: glob patterns over parameter names, and presets that stand for patterns:
//   all                    everything
//   head_only              the output projection, where it is not tied to an embedding
//   norms, layernorm_only  gains and biases of every norm; norm_gains, norm_biases: one of them
//   input                  token tables, or the map of a model that reads vectors
//   positions              learned tables of positions
//   attention, mlp         their maps alone, without norms and adapters
//   last_attention, last_mlp   those of the last layer of each stack
//   fpt                    norms, input, positions and head (Lu et al. 2021, section 2.2)
// In patterns, {last} is the number of the last layer of the stack that a name belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/parameter.h"

namespace attnlab {

struct TrainableSpec {
  std::vector<std::string> trainable{"all"};  // patterns or presets: what trains …
  std::vector<std::string> frozen;            // … except for this
};

// The layer that a name belongs to: "encoder" and 3 in "encoder.layers.3.mlp.up.weight".
struct LayerPlace {
  std::string stack;
  Index number = 0;
};
std::optional<LayerPlace> layer_of(const std::string& name);  // nothing for names without ".layers."

// The number of the last layer of each stack of a model, for {last}.
class LastLayers {
 public:
  LastLayers() = default;  // of no layers
  explicit LastLayers(const ParameterSet& parameters);
  void add(const std::string& name);  // of a parameter
  // In the stack of this name, or in the deepest one for names that belong to none, such as those in
  // published files; nothing without layers.
  std::optional<Index> of(const std::string& name) const;

 private:
  std::map<std::string, Index> by_stack_;
};

// A parameter trains if it matches a trainable pattern and no frozen one; a buffer (head gates) only if that
// pattern ends in its own name, as in *.gates. Throws ConfigError for a pattern that matches nothing, and
// when nothing is left to train.
std::function<bool(const Parameter&)> select_trainable(const TrainableSpec& spec,
                                                       const ParameterSet& parameters);

// Whether a name matches a pattern or preset: * stands for any text, dots included, ? for one character.
// Without layers, {last} matches nothing.
bool matches(const std::string& pattern, const std::string& name, const LastLayers& last = {});
bool matches_any(const std::vector<std::string>& patterns, const std::string& name, const LastLayers& last);
// Throws ConfigError, naming `key` ("train.frozen"), for every pattern that matches neither a parameter nor
// one of the other names.
void require_match(const std::string& key, const std::vector<std::string>& patterns,
                   const ParameterSet& parameters, const std::vector<std::string>& others = {});

// CRC-32 of the numbers of the parameters that are chosen.
std::uint32_t digest_of_numbers(const ParameterSet& parameters,
                                const std::function<bool(const Parameter&)>& chosen);
// Of everything that does not train: equal before and after training.
std::uint32_t frozen_digest(const ParameterSet& parameters);

// Name, shape, count and "trains" or "frozen" of each parameter and the sums; layers whose parameters are
// alike in all that share a line, "decoder.layers.0-5.mlp.up.weight".
std::string trainable_table(const ParameterSet& parameters);

}  // namespace attnlab
