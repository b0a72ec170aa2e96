#include "train/trained_model.h"

#include "config/spec.h"
#include "data/tokenizer_spec.h"
#include "train/checkpoint_store.h"
#include "train/other_code.h"
#include "train/task_shape.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

// An absolute path without a slash at its end.
fs::path plain(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

// RUN/checkpoints/step-N -> RUN; nothing if `path` is no checkpoint.
std::optional<fs::path> run_of_checkpoint(const fs::path& path) {
  if (!fs::exists(path / "state.json")) return {};
  return path.parent_path().parent_path();
}

std::unique_ptr<ExperimentSpec> read_config(const fs::path& folder,
                                            const std::vector<std::string>& assignments) {
  const fs::path file = folder / "config.yaml";
  if (!fs::exists(file)) throw IoError(folder.string() + ": no run folder: it has no config.yaml");
  auto spec = std::make_unique<ExperimentSpec>();
  read_spec(Tree::load({file.string()}, assignments), *spec);
  return spec;
}

void load_tokenizers(TrainedModel& trained) {
  const fs::path folder = trained.folder / "vocabulary";
  trained.target = load_tokenizer(folder, "target");
  if (!trained.spec->model.has_encoder() && !trained.spec->model.pooled()) return;
  if (trained.shape.vectors > 0) return;
  trained.source = load_tokenizer(folder, "source");
  if (trained.source->name() == trained.target->name() &&
      trained.source->serialized() == trained.target->serialized())
    trained.source = trained.target;
}

}  // namespace

VocabularySizes TrainedModel::sizes() const {
  VocabularySizes sizes = shape;
  sizes.source = source ? source->size() : 0;
  sizes.target = target->size();
  sizes.joint = source == target;
  return sizes;
}

ScoredWeights load_scored_weights(const ExperimentSpec& spec, const fs::path& checkpoints,
                                  ParameterSet& parameters) {
  const std::vector<fs::path> all = checkpoints_in(checkpoints);
  if (all.empty()) throw IoError(checkpoints.string() + ": no checkpoint here");
  if (spec.train.average_last > 0) {
    // What an interruption left belongs to no average, or an unbroken run would have another one.
    std::vector<fs::path> averaged = scheduled_checkpoints_in(checkpoints);
    if (averaged.empty()) averaged = all;
    const auto count = std::min(std::ssize(averaged), static_cast<std::ptrdiff_t>(spec.train.average_last));
    load_average({averaged.end() - count, averaged.end()}, parameters);
    return {join_text("mean of the last ", count, " checkpoints"), {}};
  }
  const Checkpoint checkpoint(best_checkpoint(checkpoints).value_or(all.back()), Checkpoint::Parts::weights);
  checkpoint.load_weights(parameters);
  return {"checkpoint " + checkpoint.folder().filename().string(), checkpoint.state().step};
}

TrainedModel load_trained_model(const fs::path& run, const std::vector<std::string>& assignments) {
  const fs::path path = plain(run);
  if (!fs::exists(path)) throw IoError(path.string() + ": no such run folder or checkpoint");
  const auto of_checkpoint = run_of_checkpoint(path);
  TrainedModel trained;
  trained.folder = of_checkpoint.value_or(path);
  warn_of_other_code(trained.folder);  // first: a kind that is not loaded makes its configuration unreadable
  trained.spec = read_config(trained.folder, assignments);
  if (trained.spec->model.pooled()) trained.shape = load_task_shape(trained.folder / "vocabulary");
  load_tokenizers(trained);
  trained.built = build_model(*trained.spec, trained.sizes(), choose_precision(trained.spec->precision).type,
                              false, InitialValues::zero);
  ParameterSet& parameters = trained.built->parameters;
  if (of_checkpoint) {
    const Checkpoint checkpoint(path, Checkpoint::Parts::weights);
    checkpoint.load_weights(parameters);
    trained.weights = "checkpoint " + path.filename().string();
    trained.data = checkpoint.state().data;
  } else {
    const fs::path checkpoints = trained.folder / "checkpoints";
    trained.weights = load_scored_weights(*trained.spec, checkpoints, parameters).name;
    trained.data = Checkpoint(checkpoints_in(checkpoints).back(), Checkpoint::Parts::weights).state().data;
  }
  return trained;
}

}  // namespace attnlab
