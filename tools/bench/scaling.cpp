// attnlab bench scaling: how the time of a training step grows with each size of the model and the batch, as
// an exponent, beside that of the multiply-adds.
#include <algorithm>

#include "bench/training_steps.h"
#include "study/statistics.h"

namespace attnlab {
namespace {

struct Options : StepOptions {
  std::string preset = "small";
  std::vector<std::string> axes{"depth", "width", "heads", "batch", "length", "vocabulary", "threads"};
};

struct Axis {
  std::string name;
  std::vector<Index> values;
  void (*set)(Preset&, StepOptions&, Index);
};

const std::vector<Axis>& all_axes() {
  static const std::vector<Axis> axes{
      {"depth", {1, 2, 4, 8}, [](Preset& p, StepOptions&, Index value) { p.layers = value; }},
      {"width",
       {128, 256, 512, 1024},
       [](Preset& p, StepOptions&, Index value) {
         p.width = value;
         p.feed_forward = 4 * value;
       }},
      {"heads", {1, 2, 4, 8, 16}, [](Preset& p, StepOptions&, Index value) { p.heads = value; }},
      {"batch", {16, 32, 64, 128}, [](Preset& p, StepOptions&, Index value) { p.batch = value; }},
      {"length",
       {32, 64, 128, 256, 512},
       [](Preset& p, StepOptions&, Index value) {
         p.batch = 8;
         p.length = value;
       }},
      {"vocabulary",
       {4000, 8000, 16000, 32000},
       [](Preset& p, StepOptions&, Index value) { p.vocabulary = value; }},
      {"threads", {1, 2}, [](Preset&, StepOptions& o, Index value) { o.threads = static_cast<int>(value); }}};
  return axes;
}

// Multiply-adds of a training step, twice: three products for each weight and row, and attention, whose
// scores and weighted sums are products of two in forward and of five in backward (the scores are made
// again).
double gflop_of(const Preset& p) {
  const auto D = static_cast<double>(p.width), F = static_cast<double>(p.feed_forward);
  const auto N = static_cast<double>(p.rows()), T = static_cast<double>(p.length);
  const double causal = 0.5 * (T + 1) / T;  // share of what is visible
  const double cross = p.language_model ? 0 : 1;
  const double side = 4 * D * D + 2 * D * F;
  const auto weights = static_cast<double>(p.layers) * ((1 + cross) * side + cross * 4 * D * D) +
                       static_cast<double>(p.vocabulary) * D;
  const double seen = static_cast<double>(p.layers) * (causal + 2 * cross);
  return (6 * weights * N + 14 * seen * N * T * D) / 1e9;
}

void measure_axis(const Axis& axis, const Preset& preset, const Options& options, ResultTable& results) {
  std::vector<double> sizes, seconds, work;
  for (const Index value : axis.values) {
    Preset changed = preset;
    StepOptions how = options;
    axis.set(changed, how, value);
    const Record step = measured_apart([&] { return measure_steps(changed, how); });
    const double threads = step.number("threads");
    sizes.push_back(static_cast<double>(value));
    seconds.push_back(step.number("median_s"));
    work.push_back(gflop_of(changed) / threads);
    results.row({{"axis", axis.name},
                 {"value", value},
                 {"precision", *step.find("precision")},
                 {"median_s", step.number("median_s")},
                 {"min_s", step.number("min_s")},
                 {"max_s", step.number("max_s")},
                 {"gflop_a_thread", rounded(work.back())},
                 {"peak_rss_gb", step.number("peak_rss_gb")}});
  }
  results.row({{"axis", axis.name},
               {"from", axis.values.front()},
               {"to", axis.values.back()},
               {"exponent", rounded(log_log_slope(sizes, seconds), 3)},
               {"theory", rounded(log_log_slope(sizes, work), 3)}});
}

int run(const Options& options) {
  ResultTable results(options.json);
  const Preset preset = presets_named(options.preset).front();
  for (const Axis& axis : all_axes())
    if (std::find(options.axes.begin(), options.axes.end(), axis.name) != options.axes.end())
      measure_axis(axis, preset, options, results);
  return 0;
}

const Benchmark benchmark{
    "scaling", "how the time of a step grows with depth, width, heads, batch, length, …", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      std::vector<std::string> names;
      for (const Axis& axis : all_axes()) names.push_back(axis.name);
      options->declare(app);
      app.add_option("--preset", options->preset, "all other sizes")->capture_default_str();
      app.add_option("--axis", options->axes, "only these")->check(CLI::IsMember(names));
      app.add_option("--steps", options->steps, "steps that are timed")->capture_default_str();
      app.add_option("--warm-up", options->warm_up, "steps before them")->capture_default_str();
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
