#include "train/features.h"

#include <fmt/format.h>

#include <chrono>

#include "config/error.h"
#include "config/spec.h"
#include "data/sha256.h"
#include "train/log.h"
#include "train/program_digest.h"
#include "train/safetensors.h"
#include "train/trainable.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
constexpr Index kRowsAtOnce = 4096;

bool in_body(const Parameter& parameter) { return !parameter.name().starts_with("output."); }

void require_frozen_body(const ExperimentSpec& spec, const Task& task, const ParameterSet& parameters) {
  const std::string key = "error: train.cache_features: ";
  if (!spec.model.pooled()) throw ConfigError(key + "model.head must be last, cls or mean");
  if (task.augment) throw ConfigError(key + "training examples change from epoch to epoch (augment)");
  for (const auto& parameter : parameters.all())
    if (parameter->trainable() && in_body(*parameter))
      throw ConfigError(key + "only the head may train (train.trainable: head_only), but " +
                        parameter->name() + " does");
}

// What the body reads; labels and lines are for others.
void add_inputs(Sha256& hash, const Corpus& corpus) {
  hash.add_field(std::to_string(corpus.examples.size()));
  for (const Example& example : corpus.examples) {
    hash.add_numbers(example.source);
    hash.add_numbers(example.vectors);
    hash.add_field(std::to_string(example.source_rows()));
  }
}

// The model's settings without those that change no feature: where its numbers come from, which the digest of
// them speaks of, dropout, and the head but for where it looks.
ModelSpec settings_of_body(ModelSpec model) {
  const ModelSpec usual;
  for (StackSpec* stack : {&model.stack, &model.encoder, &model.decoder}) {
    stack->dropout = usual.stack.dropout;
    stack->init = usual.stack.init;
  }
  model.adapters.dropout = usual.adapters.dropout;
  model.from.clear();
  model.weights = usual.weights;
  model.reinit.clear();
  model.allow.clear();
  model.input.rule = usual.input.rule;
  model.input.gain = usual.input.gain;
  const Pooling pool = model.head.pool;
  model.head = usual.head;
  model.head.pool = pool;
  model.tie = usual.tie;
  model.output_bias = usual.output_bias;
  model.output_transform = usual.output_transform;
  model.checkpoint_activations = usual.checkpoint_activations;
  return model;
}

std::string cache_name(const ExperimentSpec& spec, const Task& task, const ParameterSet& parameters,
                       Index rows_each) {
  Sha256 hash;
  hash.add_field("features 2");
  hash.add_field(program_digest());
  add_inputs(hash, task.train);
  add_inputs(hash, task.valid);
  hash.add_field(std::to_string(digest_of_numbers(parameters, in_body)));
  hash.add_field(to_string(parameters.type()));
  hash.add_field(std::to_string(rows_each));
  hash.add_field(write_spec(settings_of_body(spec.model)));
  return hash.hex().substr(0, 32) + ".safetensors";
}

Tensor compute(const BuiltModel& built, const std::vector<Example>& examples, Index rows_each) {
  const Index D = built.model->spec().width;
  const Tensor all({static_cast<Index>(examples.size()) * rows_each, D}, built.parameters.type());
  std::vector<Index> chosen;
  Index rows = 0;
  const auto run = [&built, &examples, &all, &chosen, &rows, rows_each] {
    if (chosen.empty()) return;
    Tape tape({.training = false});
    const Tensor hidden =
        built.model->hidden(tape, input_of(gather(examples, chosen), built.model->spec().kind)).value();
    all.row_view(chosen.front() * rows_each, static_cast<Index>(chosen.size()) * rows_each).copy_from(hidden);
    chosen.clear();
    rows = 0;
  };
  for (std::size_t i = 0; i < examples.size(); ++i) {
    chosen.push_back(static_cast<Index>(i));
    rows += examples[i].source_rows();
    if (rows >= kRowsAtOnce) run();
  }
  run();
  return all;
}

// Nothing if there is no such file, or it does not fit.
std::optional<Features> read_cache(const fs::path& path, const Features& shapes, DType type) {
  if (!fs::exists(path)) return {};
  try {
    SafetensorsFile file(path);
    Features read = shapes;
    for (const auto& [name, tensor] : {std::pair{"train", &read.train}, {"valid", &read.valid}}) {
      const TensorEntry* entry = file.find(name);
      if (entry == nullptr) return {};
      const Tensor fresh(tensor->shape(), type);
      file.read(*entry, fresh);
      *tensor = fresh;
    }
    return read;
  } catch (const IoError& error) {
    log_warning(std::string(error.what()) + "; computed anew");
    return {};
  }
}

}  // namespace

Tensor Features::rows(const Tensor& all, const std::vector<Index>& examples) const {
  const Tensor some({static_cast<Index>(examples.size()) * rows_each, all.columns()}, all.type());
  for (std::size_t i = 0; i < examples.size(); ++i)
    some.row_view(static_cast<Index>(i) * rows_each, rows_each)
        .copy_from(all.row_view(examples[i] * rows_each, rows_each));
  return some;
}

Features features_of(const ExperimentSpec& spec, const Task& task, const BuiltModel& built,
                     const fs::path& cache) {
  require_frozen_body(spec, task, built.parameters);
  Features features;
  features.rows_each =
      spec.model.head.pool == Pooling::last ? spec.model.head.rows.value_or(task.label_rows) : 1;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const fs::path path = cache / "features" / cache_name(spec, task, built.parameters, features.rows_each);
  const auto shape = [&spec, &features](const Corpus& corpus) {
    return Tensor({static_cast<Index>(corpus.examples.size()) * features.rows_each, spec.model.width},
                  DType::f32);
  };
  const Features shapes{shape(task.train), shape(task.valid), features.rows_each};
  if (auto read = read_cache(path, shapes, built.parameters.type())) {
    read->seconds = seconds();
    log_info(fmt::format("features read from {} in {:.2f} s", path.string(), read->seconds));
    return *read;
  }
  features.train = compute(built, task.train.examples, features.rows_each);
  features.valid = compute(built, task.valid.examples, features.rows_each);
  fs::create_directories(path.parent_path());
  write_safetensors(path, {{"train", features.train}, {"valid", features.valid}});
  features.seconds = seconds();
  log_info(fmt::format("features of {} examples computed in {:.2f} s and kept in {}",
                       task.train.examples.size() + task.valid.examples.size(), features.seconds,
                       path.string()));
  return features;
}

}  // namespace attnlab
