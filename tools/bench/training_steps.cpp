#include "bench/training_steps.h"

#include <fmt/format.h>

#include <cmath>

#include "core/parallel.h"
#include "core/pool.h"
#include "core/profile.h"
#include "train/adamw.h"
#include "train/clip.h"
#include "train/profile_report.h"
#include "train/window.h"
#include "version.h"

namespace attnlab {
namespace {

class Steps {
 public:
  Steps(const Preset& preset, const ExperimentSpec& spec, DType type)
      : preset_(preset),
        smoothing_(spec.train.label_smoothing),
        built_(build_preset(preset, spec, type, true)) {
    AdamWSpec adam;
    adam.decay = 0.01;
    adam.decay_all = true;
    optimizer_ = adam.make(built_->parameters);
  }

  void step() {
    const std::vector<Batch> pieces{random_batch(preset_, static_cast<std::uint64_t>(done_))};
    profile_stage("batch");
    window_gradient(*built_, pieces, {.smoothing = smoothing_, .seed = 1, .step = done_});
    profile_stage("end of the window");
    const double norm = global_norm(built_->parameters.gradients());
    profile_stage("gradient norm");
    optimizer_->step(1e-4, clip_scale(norm, 1));
    profile_stage("optimizer");
    ++done_;
  }

  const ParameterSet& parameters() const { return built_->parameters; }

 private:
  const Preset& preset_;
  double smoothing_;
  std::unique_ptr<BuiltModel> built_;
  std::unique_ptr<Optimizer> optimizer_;
  Index done_ = 0;
};

void append_counts(Steps& steps, Record& row) {
  Profile profile;
  {
    const Profile::Step one(&profile);
    steps.step();
  }
  double flop = 0, bytes = 0, product_seconds = 0;
  for (const ProfileEntry& entry : profile.entries()) {
    flop += entry.flop;
    product_seconds += entry.product_seconds;
    if (entry.products == 0) bytes += entry.bytes_read + entry.bytes_written;
  }
  row.set("gflop", rounded(flop / 1e9));
  row.set("moved_gb", rounded(bytes / 1e9));
  row.set("products_share", rounded(product_seconds / profile.seconds(), 3));
}

void print_profile(Steps& steps, int count) {
  Profile profile;
  for (int i = 0; i < count; ++i) {
    const Profile::Step one(&profile);
    steps.step();
  }
  fmt::print(stderr, "{}", profile_table(profile, standing_memory(steps.parameters()), {}));
}

}  // namespace

Record measure_steps(const Preset& preset, const StepOptions& options) {
  const DType type = options.apply();
  ExperimentSpec spec = spec_of(preset, options.dropout);
  spec.train.which.trainable = options.trainable;
  Steps steps(preset, spec, type);
  timed([&steps] { steps.step(); }, 0, options.warm_up, 1e9);
  const auto misses = Pool::global().counters().misses;
  const auto seconds = timed([&steps] { steps.step(); }, 0, options.steps, 1e9);
  Record row{{"peer", std::string("attnlab ") + kVersion},
             {"preset", preset.name},
             {"precision", to_string(type)},
             {"dropout", spec.model.stack.dropout.residual},
             {"threads", static_cast<Index>(thread_count())}};
  append_times(seconds, row);
  row.set("target_tokens_per_s", std::round(static_cast<double>(preset.rows()) / median(seconds)));
  row.set("parameters", steps.parameters().count(false));
  row.set("trainable", steps.parameters().count(true));
  row.set("peak_rss_gb", rounded(peak_rss_gb(), 3));
  row.set("pool_misses", static_cast<Index>(Pool::global().counters().misses - misses));
  append_counts(steps, row);
  if (options.profile) print_profile(steps, options.steps);
  return row;
}

}  // namespace attnlab
