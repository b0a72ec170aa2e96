// attnlab bench step: one whole training step on random tokens, for the presets that the scripts of the peers
// use too.
#include "bench/training_steps.h"

namespace attnlab {
namespace {

struct Options : StepOptions {
  std::string preset;
};

int run(const Options& options) {
  ResultTable results(options.json);
  for (const Preset& preset : presets_named(options.preset))
    results.row(measured_apart([&preset, &options] { return measure_steps(preset, options); }));
  return 0;
}

const Benchmark benchmark{
    "step", "one training step of the presets toy, tiny, small, base, gpt2", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->declare(app);
      app.add_option("--preset", options->preset, "only this one");
      app.add_option("--dropout", options->dropout, "another rate than the preset's");
      app.add_option("--steps", options->steps, "steps that are timed")->capture_default_str();
      app.add_option("--warm-up", options->warm_up, "steps before them")->capture_default_str();
      app.add_flag("--profile", options->profile, "also print time and memory by op and module to stderr");
      app.add_option("--trainable", options->trainable, "patterns over parameter names, or presets");
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
