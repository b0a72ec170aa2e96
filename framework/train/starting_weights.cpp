#include "train/starting_weights.h"

#include <algorithm>

#include "config/error.h"
#include "train/checkpoint_store.h"
#include "train/log.h"
#include "train/other_code.h"
#include "train/place_weights.h"
#include "train/published_model.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

WeightReport place(const ExperimentSpec& spec, const std::filesystem::path& path, ParameterSet& parameters) {
  const auto seed = static_cast<std::uint64_t>(spec.seed);
  if (is_published_model(path)) {
    PublishedModel model(path);
    return place_weights(model.files, placements_of(*model.family, model.files.names()),
                         model.family->not_ours(), spec.model, seed, parameters);
  }
  const Checkpoint checkpoint(find_checkpoint(path), Checkpoint::Parts::weights);  // checks that it is whole
  const std::filesystem::path folder = std::filesystem::absolute(checkpoint.folder()).lexically_normal();
  warn_of_other_code(folder.parent_path().parent_path());  // RUN/checkpoints/step-N -> RUN
  WeightFiles files(checkpoint.folder() / "model.safetensors");
  return place_weights(files, placements_by_name(files.names()), {}, spec.model, seed, parameters);
}

bool adds_something(const Parameter& b) {
  const std::vector<double> numbers = b.value().to_doubles();
  return b.trainable() || std::any_of(numbers.begin(), numbers.end(), [](double x) { return x != 0; });
}

// An adapter whose B is zero adds nothing to its map; where B does not train, either, it never will.
void require_live_adapters(const AdapterSpec& spec, const ParameterSet& parameters) {
  const auto& all = parameters.all();
  const bool live = std::any_of(all.begin(), all.end(), [](const auto& parameter) {
    return parameter->name().ends_with(".adapter.b") && adds_something(*parameter);
  });
  if (spec.on() && !live)
    throw ConfigError(
        "error: model.adapters: they start at zero and none of them trains, so that they add nothing; say "
        "train.trainable: [adapters, …], start from a run that has trained them, or say rank: 0");
}

WeightReport load(const ExperimentSpec& spec, BuiltModel& built) {
  if (spec.model.from.empty()) {
    require_match("model.reinit", spec.model.reinit, built.parameters);
    return {};
  }
  try {
    const WeightReport report = place(spec, spec.model.from, built.parameters);
    log_info("starting weights from " + spec.model.from + "\n" + report.text());
    return report;
  } catch (const IoError& error) {
    throw IoError("model.from: " + spec.model.from + ": weights cannot be taken over\n" + error.what());
  }
}

}  // namespace

std::filesystem::path find_checkpoint(const std::filesystem::path& path) {
  if (std::filesystem::exists(path / "state.json")) return path;
  if (std::filesystem::is_regular_file(path) && std::filesystem::exists(path.parent_path() / "state.json"))
    return path.parent_path();
  if (const auto best = best_checkpoint(path / "checkpoints")) return *best;
  if (const auto last = last_checkpoint(path / "checkpoints")) return *last;
  throw IoError(
      path.string() +
      ": neither a published model (safetensors), nor a checkpoint (a folder with state.json), nor a run "
      "folder with checkpoints");
}

InitialValues initial_values_before_start(const ExperimentSpec& spec) {
  return spec.model.from.empty() ? InitialValues::drawn : InitialValues::zero;
}

WeightReport load_starting_weights(const ExperimentSpec& spec, BuiltModel& built) {
  WeightReport report = load(spec, built);
  const bool training = built.parameters.count(true) > 0;
  if (training) require_live_adapters(spec.model.adapters, built.parameters);
  return report;
}

}  // namespace attnlab
