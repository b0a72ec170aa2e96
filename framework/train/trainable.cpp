#include "train/trainable.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "config/closest.h"
#include "config/error.h"

namespace attnlab {
namespace {

struct Preset {
  const char* name;
  std::vector<std::string> patterns;
};

const std::vector<Preset>& presets() {
  static const std::vector<std::string> norms{"*norm.weight", "*norm.bias", "*norm.gain"};
  static const std::vector<std::string> input{"input.*", "*embedding.weight"},
      positions{"*_positions.weight"};
  static const std::vector<std::string> head{"output*"};
  static const auto maps = [](const std::string& layer, const std::string& block,
                              std::initializer_list<const char*> names) {
    std::vector<std::string> patterns;  // of what the map itself has: an adapter beside it is none of its
    for (const char* name : names)
      for (const char* part : {".weight", ".bias"})
        patterns.push_back("*.layers." + layer + "." + block + "." + name + part);
    return patterns;
  };
  static const auto attention = [](const std::string& layer) {
    return maps(layer, "*attention", {"query", "key", "value", "query_key", "output"});
  };
  static const auto mlp = [](const std::string& layer) { return maps(layer, "mlp", {"gate", "up", "down"}); };
  static const auto joined = [](std::initializer_list<std::vector<std::string>> parts) {
    std::vector<std::string> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  static const std::vector<Preset> all{{"all", {"*"}},
                                       {"head_only", head},
                                       {"layernorm_only", norms},
                                       {"norms", norms},
                                       {"norm_gains", {"*norm.weight", "*norm.gain"}},
                                       {"norm_biases", {"*norm.bias"}},
                                       {"input", input},
                                       {"positions", positions},
                                       {"attention", attention("*")},
                                       {"mlp", mlp("*")},
                                       {"adapters", {"*.adapter.*"}},
                                       {"lstm", maps("*", "lstm", {"input", "recurrent"})},
                                       {"last_attention", attention("{last}")},
                                       {"last_mlp", mlp("{last}")},
                                       {"fpt", joined({norms, input, positions, head})}};
  return all;
}

std::string preset_names() {
  std::string names;
  for (const Preset& preset : presets()) names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

// A pattern with the number of the last layer in the place of {last}.
std::string with_last(std::string pattern, std::optional<Index> last) {
  const std::size_t at = pattern.find("{last}");
  return at == std::string::npos ? pattern : pattern.replace(at, 6, last ? std::to_string(*last) : "none");
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// Whether one pattern matches the name and says its last part in so many words: buffers train only then.
bool names_one(const std::vector<std::string>& patterns, const std::string& name, const LastLayers& last) {
  return std::any_of(patterns.begin(), patterns.end(), [&name, &last](const auto& pattern) {
    return last_part(pattern) == last_part(name) && matches(pattern, name, last);
  });
}

std::string some_names(const ParameterSet& parameters) {
  std::string text;
  const std::size_t count = parameters.all().size(), shown = std::min<std::size_t>(count, 6);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + parameters.all()[i * count / shown]->name();
  return text;
}

// What may be meant by a pattern without a match.
std::string hint_for(const std::string& pattern, const ParameterSet& parameters) {
  std::vector<std::string> known;
  for (const Preset& preset : presets()) {
    if (pattern == preset.name) return ", for this model has no such part";
    known.emplace_back(preset.name);
  }
  for (const auto& parameter : parameters.all()) known.push_back(parameter->name());
  const std::string near = closest_match(pattern, known);
  return near.empty() ? "" : ", did you mean '" + near + "'?";
}

}  // namespace

void require_match(const std::string& key, const std::vector<std::string>& patterns,
                   const ParameterSet& parameters, const std::vector<std::string>& others) {
  std::string problems;
  const LastLayers last(parameters);
  for (const auto& pattern : patterns) {
    const auto matched = [&pattern, &last](const std::string& name) { return matches(pattern, name, last); };
    const bool found = std::any_of(parameters.all().begin(), parameters.all().end(),
                                   [&matched](const auto& parameter) { return matched(parameter->name()); });
    if (!found && std::none_of(others.begin(), others.end(), matched))
      problems +=
          fmt::format("error: {}: '{}' matches no parameter{}; names are such as {}; parts are {}\n", key,
                      pattern, hint_for(pattern, parameters), some_names(parameters), preset_names());
  }
  if (!problems.empty()) throw ConfigError(problems.substr(0, problems.size() - 1));
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& name, const LastLayers& last) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&name, &last](const auto& pattern) { return matches(pattern, name, last); });
}

bool matches(const std::string& pattern, const std::string& name, const LastLayers& last) {
  const auto& all = presets();
  const auto preset =
      std::find_if(all.begin(), all.end(), [&pattern](const Preset& p) { return pattern == p.name; });
  if (preset != all.end()) return matches_any(preset->patterns, name, last);
  return ::fnmatch(with_last(pattern, last.of(name)).c_str(), name.c_str(), 0) == 0;
}

std::optional<LayerPlace> layer_of(const std::string& name) {
  constexpr std::string_view kLayers = ".layers.";
  const std::size_t at = name.find(kLayers);
  if (at == std::string::npos) return {};
  return LayerPlace{name.substr(0, at), std::atoll(name.c_str() + at + kLayers.size())};
}

LastLayers::LastLayers(const ParameterSet& parameters) {
  for (const auto& parameter : parameters.all()) add(parameter->name());
}

void LastLayers::add(const std::string& name) {
  const auto place = layer_of(name);
  if (!place) return;
  Index& last = by_stack_.try_emplace(place->stack, 0).first->second;
  last = std::max(last, place->number);
}

std::optional<Index> LastLayers::of(const std::string& name) const {
  if (by_stack_.empty()) return {};
  const auto place = layer_of(name);
  const auto own = by_stack_.find(place ? place->stack : name);
  if (own != by_stack_.end()) return own->second;
  const auto shallower = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(by_stack_.begin(), by_stack_.end(), shallower)->second;
}

std::function<bool(const Parameter&)> select_trainable(const TrainableSpec& spec,
                                                       const ParameterSet& parameters) {
  require_match("train.trainable", spec.trainable, parameters);
  require_match("train.frozen", spec.frozen, parameters);
  const auto trains = [spec, last = LastLayers(parameters)](const Parameter& parameter) {
    const auto selects = parameter.buffer() ? names_one : matches_any;
    return selects(spec.trainable, parameter.name(), last) &&
           !matches_any(spec.frozen, parameter.name(), last);
  };
  const bool some = std::any_of(parameters.all().begin(), parameters.all().end(),
                                [&trains](const auto& parameter) { return trains(*parameter); });
  if (!some) throw ConfigError("error: train.trainable and train.frozen leave no parameter to train");
  return trains;
}

std::uint32_t digest_of_numbers(const ParameterSet& parameters,
                                const std::function<bool(const Parameter&)>& chosen) {
  uLong sum = ::crc32(0, nullptr, 0);
  for (const auto& parameter : parameters.all()) {
    if (!chosen(*parameter)) continue;
    const Tensor& numbers = parameter->value();
    sum = ::crc32_z(sum, static_cast<const Bytef*>(numbers.raw()),
                    static_cast<z_size_t>(numbers.count() * size_of(numbers.type())));
  }
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t frozen_digest(const ParameterSet& parameters) {
  return digest_of_numbers(parameters, [](const Parameter& parameter) { return !parameter.trainable(); });
}

}  // namespace attnlab
