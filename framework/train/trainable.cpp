#include "train/trainable.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "config/error.h"

namespace attnlab {
namespace {

struct Preset {
  const char *name, *pattern;
};
constexpr std::array<Preset, 3> kPresets{
    {{"all", "*"}, {"layernorm_only", "*norm*"}, {"head_only", "output*"}}};

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&name](const auto& pattern) { return matches(pattern, name); });
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// Whether a pattern says the last part of the name in so many words: buffers train only then.
bool names(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&name](const auto& pattern) { return last_part(pattern) == last_part(name); });
}

std::string some_names(const ParameterSet& parameters) {
  std::string text;
  const std::size_t count = parameters.all().size(), shown = std::min<std::size_t>(count, 6);
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + parameters.all()[i * count / shown]->name();
  return text;
}

void require_match(const char* key, const std::vector<std::string>& patterns,
                   const ParameterSet& parameters) {
  std::string problems;
  for (const auto& pattern : patterns) {
    const bool found =
        std::any_of(parameters.all().begin(), parameters.all().end(),
                    [&pattern](const auto& parameter) { return matches(pattern, parameter->name()); });
    if (!found)
      problems += fmt::format("error: train.{}: '{}' matches no parameter; names are such as {}\n", key,
                              pattern, some_names(parameters));
  }
  if (!problems.empty()) throw ConfigError(problems.substr(0, problems.size() - 1));
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) {
  const auto* preset = std::find_if(kPresets.begin(), kPresets.end(),
                                    [&pattern](const Preset& p) { return pattern == p.name; });
  return ::fnmatch(preset == kPresets.end() ? pattern.c_str() : preset->pattern, name.c_str(), 0) == 0;
}

std::function<bool(const Parameter&)> select_trainable(const TrainableSpec& spec,
                                                       const ParameterSet& parameters) {
  require_match("trainable", spec.trainable, parameters);
  require_match("frozen", spec.frozen, parameters);
  const auto trains = [spec](const Parameter& parameter) {
    if (parameter.buffer() && !names(spec.trainable, parameter.name())) return false;
    return matches_any(spec.trainable, parameter.name()) && !matches_any(spec.frozen, parameter.name());
  };
  const bool some = std::any_of(parameters.all().begin(), parameters.all().end(),
                                [&trains](const auto& parameter) { return trains(*parameter); });
  if (!some) throw ConfigError("error: train.trainable and train.frozen leave no parameter to train");
  return trains;
}

std::string trainable_table(const ParameterSet& parameters) {
  std::size_t width = 4;
  for (const auto& parameter : parameters.all()) width = std::max(width, parameter->name().size());
  std::string text;
  Index tensors = 0;
  for (const auto& parameter : parameters.all()) {
    text +=
        fmt::format("{:<{}}  {:>16}  {:>12}  {}\n", parameter->name(), width, join_text(parameter->shape()),
                    parameter->shape().count(), parameter->trainable() ? "trains" : "frozen");
    tensors += parameter->trainable() ? 1 : 0;
  }
  return text + fmt::format("{} of {} tensors train, {} of {} numbers\n", tensors, parameters.all().size(),
                            parameters.count(true), parameters.count(false));
}

}  // namespace attnlab
