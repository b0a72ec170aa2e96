// attnlab bench step: one whole training step (batch, forward, loss, backward, clip, AdamW) on random tokens,
// for the presets that the peers' scripts use too.
#include <sys/resource.h>

#include <chrono>
#include <cmath>

#include "bench/benchmark.h"
#include "config/error.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "train/adamw.h"
#include "train/clip.h"
#include "train/window.h"

namespace attnlab {
namespace {

struct Preset {
  const char* name;
  Index layers, width, heads, feed_forward, vocabulary, batch, length;
  double dropout;
  bool language_model;
};

constexpr Preset kPresets[] = {{"toy", 2, 64, 4, 256, 100, 32, 16, 0.1, false},
                               {"tiny", 4, 128, 4, 256, 8000, 128, 16, 0.1, false},
                               {"small", 3, 256, 4, 1024, 8000, 64, 16, 0.1, false},
                               {"base", 6, 512, 8, 2048, 10000, 32, 32, 0.1, false},
                               {"gpt2", 12, 768, 12, 3072, 50257, 4, 64, 0.0, true}};

struct Options {
  std::string preset, precision = "auto";
  double dropout = -1;
  int threads = 0, steps = 7, warm_up = 3;
  bool json = false;
  std::vector<std::string> trainable{"all"};
};

ExperimentSpec spec_of(const Preset& preset, const Options& options) {
  ExperimentSpec spec;
  spec.model.kind = preset.language_model ? ModelKind::decoder : ModelKind::encoder_decoder;
  spec.model.width = preset.width;
  spec.model.tie = Tie::all;
  spec.model.positions.kind = PositionKind::learned;
  spec.model.positions.max_length = 1024;
  StackSpec& stack = spec.model.stack;
  stack.layers = preset.layers;
  stack.heads = preset.heads;
  stack.feed_forward = preset.feed_forward;
  if (preset.language_model) stack.mlp.activation = Activation::gelu_tanh;
  stack.dropout.set_all(options.dropout >= 0 ? options.dropout : preset.dropout);
  stack.dropout.embedding = 0;
  spec.model.encoder = spec.model.decoder = stack;
  spec.train.label_smoothing = preset.language_model ? 0 : 0.1;
  spec.train.which.trainable = options.trainable;
  return spec;
}

Precision precision_of(const std::string& name) {
  if (name == "auto") return Precision::automatic;
  if (name == "f32") return Precision::f32;
  if (name == "bf16") return Precision::bf16;
  if (name == "f64") return Precision::f64;
  throw ConfigError("--precision: '" + name + "' is none of auto, f32, bf16, f64");
}

Batch random_batch(const Preset& preset, std::uint64_t number) {
  const Random random(3, stream_name("bench step"), number);
  std::vector<Example> examples(static_cast<std::size_t>(preset.batch));
  std::vector<Index> order;
  std::uint64_t next = 0;
  for (auto& example : examples) {
    const auto draw = [&](Index count) {
      std::vector<Token> ids;
      for (Index i = 0; i < count; ++i)
        ids.push_back(
            static_cast<Token>(random.below(next++, static_cast<std::uint64_t>(preset.vocabulary))));
      return ids;
    };
    if (!preset.language_model) example.source = draw(preset.length);
    example.target = draw(preset.length + 1);
    order.push_back(static_cast<Index>(order.size()));
  }
  return gather(examples, order);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::ordered_json measure(const Preset& preset, const Options& options) {
  const ExperimentSpec spec = spec_of(preset, options);
  const DType type = choose_precision(precision_of(options.precision)).type;
  const auto built = build_model(spec, {preset.vocabulary, preset.vocabulary, true}, type, true);
  AdamWSpec adam;
  adam.decay = 0.01;
  adam.decay_all = true;
  const auto optimizer = adam.make(built->parameters);
  std::vector<double> seconds;
  std::size_t misses = 0;
  for (int step = 0; step < options.warm_up + options.steps; ++step) {
    const auto misses_before = Pool::global().counters().misses;
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Batch> pieces{random_batch(preset, static_cast<std::uint64_t>(step))};
    window_gradient(*built, pieces, {.smoothing = spec.train.label_smoothing, .seed = 1, .step = step});
    optimizer->step(1e-4, clip_scale(global_norm(built->parameters.gradients()), 1));
    if (step >= options.warm_up) {
      seconds.push_back(seconds_since(start));
      misses += Pool::global().counters().misses - misses_before;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto [low, high] = std::minmax_element(seconds.begin(), seconds.end());
  const double middle = median(seconds);
  const auto rounded = [](double value) { return std::round(value * 1e5) / 1e5; };
  return {{"preset", preset.name},
          {"precision", to_string(type)},
          {"dropout", spec.model.stack.dropout.residual},
          {"threads", thread_count()},
          {"median_s", rounded(middle)},
          {"min_s", rounded(*low)},
          {"max_s", rounded(*high)},
          {"target_tokens_per_s", std::round(static_cast<double>(preset.batch * preset.length) / middle)},
          {"parameters", built->parameters.count(false)},
          {"peak_rss_gb", std::round(static_cast<double>(usage.ru_maxrss) / 1e4) / 100},
          {"pool_misses", misses}};
}

int run(const Options& options) {
  if (options.threads > 0) set_thread_count(options.threads);
  ResultTable results(options.json);
  bool found = false;
  for (const Preset& preset : kPresets) {
    if (!options.preset.empty() && options.preset != preset.name) continue;
    found = true;
    results.row(measure(preset, options));
  }
  if (!found) throw ConfigError("--preset: '" + options.preset + "' is none of toy, tiny, small, base, gpt2");
  return 0;
}

const Benchmark benchmark{
    "step", "one training step of the presets toy, tiny, small, base, gpt2", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("--preset", options->preset, "only this one");
      app.add_option("--precision", options->precision, "auto, f32, bf16 or f64")->capture_default_str();
      app.add_option("--dropout", options->dropout, "another rate than the preset's");
      app.add_option("--threads", options->threads, "of the parallel loops");
      app.add_option("--steps", options->steps, "steps that are timed")->capture_default_str();
      app.add_option("--warm-up", options->warm_up, "steps before them")->capture_default_str();
      app.add_option("--trainable", options->trainable, "patterns over parameter names, or presets");
      app.add_flag("--json", options->json, "one JSON object a line");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
