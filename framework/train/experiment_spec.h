// One YAML file is one experiment: this is everything that such a file may say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/task_spec.h"
#include "models/spec.h"
#include "ops/cross_entropy.h"
#include "train/decode_spec.h"
#include "train/divergence.h"
#include "train/early_stopping.h"
#include "train/optimizer.h"
#include "train/rate_groups.h"
#include "train/schedule.h"
#include "train/score.h"
#include "train/trainable.h"

namespace attnlab {

enum class Precision { automatic, f32, bf16, f64 };

struct TrainSpec {
  std::optional<double> learning_rate;
  std::shared_ptr<OptimizerSpec> optimizer = Registry<OptimizerSpec>::make("adamw");
  std::shared_ptr<ScheduleSpec> schedule = Registry<ScheduleSpec>::make("inverse_sqrt");
  std::optional<std::int64_t> max_steps;
  std::int64_t max_epochs = 10;
  std::int64_t batch_tokens = 2048;
  std::int64_t accumulate = 1;
  double clip = 1;
  double label_smoothing = 0;
  SmoothingSupport smoothing_support = SmoothingSupport::vocabulary;
  TrainableSpec which;
  RateGroupsSpec groups;
  std::int64_t log_every = 50;
  std::int64_t validate_every = 0;
  std::int64_t checkpoint_every = 0;
  std::int64_t keep_last = 1, keep_best = 1;
  std::int64_t average_last = 0;
  bool validation_scores = true;
  EarlyStoppingSpec early_stopping;
  DivergenceSpec divergence;
  bool cache_features = false;
  bool overfit_one_batch = false;
  bool find_nan = false;
  void fields(Fields& f);
};

// The score to expect, printed beside the one reached.
struct ExpectSpec {
  std::optional<double> score, within;
  void fields(Fields& f);
};

// What a run writes beside its own files.
struct LogSpec {
  bool tensorboard = false;
  void fields(Fields& f);
};

struct ExperimentSpec {
  std::string name = "experiment";
  std::int64_t seed = 1;
  Precision precision = Precision::automatic;
  bool deterministic = true;
  DataSpec data;
  ModelSpec model;
  TrainSpec train;
  DecodeSpec decode;
  ExpectSpec expect;
  LogSpec log;
  void fields(Fields& f);
};

class Problems;
class Tree;
// As those of config/spec.h, which they replace for experiments: where model.from names a published model,
// its config.json states the keys of `model:` that the tree leaves open.
void read_spec(const Tree& tree, ExperimentSpec& spec);
void read_spec(const Tree& tree, ExperimentSpec& spec, Problems& problems);

}  // namespace attnlab
