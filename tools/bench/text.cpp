// attnlab bench text: training steps of a configuration on its own data, and the same sentences in the same
// batches as a file for a peer to train on.
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/measuring.h"
#include "config/spec.h"
#include "core/parallel.h"
#include "data/files.h"
#include "train/trainer.h"
#include "version.h"

namespace attnlab {
namespace {

struct Options : MeasureOptions {
  ConfigOptions config;
  int steps = 60, warm_up = 10;
  std::string batches;
};

struct Loaded {
  ExperimentSpec spec;
  Task task;
};

std::unique_ptr<Loaded> load(const Options& options) {
  auto loaded = std::make_unique<Loaded>();
  read_spec(Tree::load(options.config.files, options.config.assignments), loaded->spec);
  loaded->task = loaded->spec.data.load();
  check_fit(loaded->spec, loaded->task);
  return loaded;
}

Index target_tokens(const Loaded& loaded, const Options& options, PaddingReport& padding) {
  const auto& examples = loaded.task.train.examples;
  BatchStream stream(examples, {.tokens = loaded.spec.train.batch_tokens,
                                .seed = static_cast<std::uint64_t>(loaded.spec.seed)});
  BatchLists timed_ones;
  for (int i = 0; i < options.warm_up + options.steps; ++i) {
    auto chosen = stream.next();
    if (i >= options.warm_up) timed_ones.push_back(std::move(chosen));
  }
  padding = padding_avoided(examples, timed_ones);
  return padding.target_rows;
}

// Sizes of the model and the batches of ids: what a peer needs to do the same work.
void write_batches(const Loaded& loaded, const Options& options) {
  const ModelSpec& model = loaded.spec.model;
  const auto& examples = loaded.task.train.examples;
  nlohmann::ordered_json file{{"vocabulary", vocabulary_of(loaded.task).target},
                              {"layers", model.encoder.layers},
                              {"width", model.width},
                              {"heads", model.encoder.heads},
                              {"feed_forward", model.encoder.feed_forward},
                              {"dropout", model.encoder.dropout.residual},
                              {"smoothing", loaded.spec.train.label_smoothing},
                              {"warm_up", options.warm_up}};
  BatchStream stream(examples, {.tokens = loaded.spec.train.batch_tokens,
                                .seed = static_cast<std::uint64_t>(loaded.spec.seed)});
  for (int i = 0; i < options.warm_up + options.steps; ++i) {
    nlohmann::ordered_json batch;
    for (const Index example : stream.next()) {
      batch["source"].push_back(examples[static_cast<std::size_t>(example)].source);
      batch["target"].push_back(examples[static_cast<std::size_t>(example)].target);
    }
    file["batches"].push_back(batch);
  }
  write_file(options.batches, file.dump());
}

Record measure(const Options& options) {
  const DType type = options.apply();
  const auto loaded = load(options);
  if (!options.batches.empty()) write_batches(*loaded, options);
  const auto built = build_model(loaded->spec, vocabulary_of(loaded->task), type, true);
  Trainer trainer(loaded->spec, loaded->task, *built, "");
  std::vector<double> seconds;
  for (int i = 0; i < options.warm_up + options.steps; ++i) {
    const double step = trainer.step().seconds;
    if (i >= options.warm_up) seconds.push_back(step);
  }
  double total = 0;
  for (const double step : seconds) total += step;
  PaddingReport padding;
  const auto tokens = static_cast<double>(target_tokens(*loaded, options, padding));
  Record row{{"peer", std::string("attnlab ") + kVersion},
             {"config", loaded->spec.name},
             {"precision", to_string(type)},
             {"threads", static_cast<Index>(thread_count())},
             {"steps", static_cast<Index>(seconds.size())}};
  append_times(seconds, row);
  row.set("total_s", rounded(total));
  row.set("target_tokens_per_s", std::round(tokens / total));
  row.set("padding_avoided", rounded(padding.share(), 3));
  row.set("parameters", built->parameters.count(false));
  row.set("peak_rss_gb", rounded(peak_rss_gb(), 3));
  return row;
}

int run(const Options& options) {
  ResultTable(options.json).row(measure(options));
  return 0;
}

const Benchmark benchmark{
    "text", "training steps of a configuration on its own data", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->config.declare(app, true);
      options->declare(app);
      app.add_option("--steps", options->steps, "steps that are timed")->capture_default_str();
      app.add_option("--warm-up", options->warm_up, "steps before them")->capture_default_str();
      app.add_option("--write-batches", options->batches, "a file for the same batches, as JSON");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
