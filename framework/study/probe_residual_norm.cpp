// How far the tokens of a sentence are from being all alike, by depth (Dong et al. 2021, figure 2): the norm
// of the residual over the norm of the rows, after every layer.
#include <cmath>
#include <limits>
#include <map>

#include "study/layer_outputs.h"
#include "study/moments.h"
#include "study/probe.h"

namespace attnlab {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

struct Measure {
  const char *centre, *norm_name;
  MatrixNorm norm;
  bool minimiser;
};
constexpr Measure kMeasures[] = {{"mean", "composite", MatrixNorm::composite, false},
                                 {"minimiser", "composite", MatrixNorm::composite, true},
                                 {"mean", "frobenius", MatrixNorm::frobenius, false}};

// Rows of a sentence at some depth, and their residual around each centre.
RowMatrix centred(const RowMatrix& x, bool minimiser) {
  return residual(x, minimiser ? composite_centre(x) : mean_row(x));
}

// Moves everything that passes between layers by one unit in the last place, up or down at random: what this
// changes is noise.
class LastPlaceNoise final : public ModelObserver {
 public:
  LastPlaceNoise(Transformer& model, std::uint64_t seed) : ModelObserver(model), seed_(seed) {}

 protected:
  Var look(const std::string& module, std::string_view what, const Var& value) override {
    if (what != "input" && what != "output") return value;
    const double unit = value.type() == DType::f64 ? 0x1p-52 : value.type() == DType::f32 ? 0x1p-23 : 0x1p-7;
    const Random random(seed_, stream_name(module));
    auto numbers = value.value().to_doubles();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] *= random.uniform(i) < 0.5 ? 1 - unit : 1 + unit;
    return value.tape().constant(Tensor::from(value.shape(), value.type(), numbers));
  }

 private:
  std::uint64_t seed_;
};

// One measure of one stack: residuals of all sentences by layer, and the noise in them.
struct Curve {
  std::vector<std::vector<double>> by_layer;
  std::vector<double> noise;

  void add(Index layer, double value) {
    if (by_layer.size() <= static_cast<std::size_t>(layer))
      by_layer.resize(static_cast<std::size_t>(layer) + 1);
    by_layer[static_cast<std::size_t>(layer)].push_back(value);
  }
  std::vector<double> means() const {
    std::vector<double> result;
    for (const auto& values : by_layer) result.push_back(moments_of(values).mean);
    return result;
  }
};

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

// The steps between layers that say how residuals shrink: both ends in a window between noise and saturation.
struct Steps {
  std::vector<double> log_ratio, slope;  // of the step to layer l; NaN where it is not defined
  std::vector<bool> qualifies;
};

Steps steps_of(const std::vector<double>& r, const std::vector<double>& noise, double low, double high) {
  Steps steps;
  for (std::size_t l = 0; l < r.size(); ++l) {
    const auto inside = [&](std::size_t at) { return r[at] > std::max(low, 10 * noise[at]) && r[at] < high; };
    steps.log_ratio.push_back(l < 1 || r[l] <= 0 ? kNothing : std::log(r[l]) / std::log(r[l - 1]));
    steps.slope.push_back(l < 2 || r[l] <= 0 ? kNothing
                                             : std::log(r[l] / r[l - 1]) / std::log(r[l - 1] / r[l - 2]));
    steps.qualifies.push_back(l >= 1 && inside(l - 1) && inside(l));
  }
  return steps;
}

struct ResidualNorm final : ProbeSpec {
  double low = 1e-12, high = 0.2;

  void fields(Fields& f) override {
    f("low", low, above(0), "steps count whose two ends lie above this (and above ten times the noise) …");
    f("high", high, above(0), "… and below this");
  }
  DType precision() const override { return DType::f64; }
  std::string refusal(const ModelSpec& spec) const override {
    return has_layers(spec) ? "" : "the model has no layers";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    std::map<std::string, std::vector<Curve>> curves;  // by stack, one for each measure
    std::size_t single = 0;
    std::map<std::pair<std::string, Index>, std::vector<std::vector<double>>> kept;  // residuals in front
    for_each_stream(subject, [&](const StreamPlace& at, const RowMatrix& x) {
      if (x.rows < 2) {
        single += at.layer == 0 ? 1 : 0;
        return;
      }
      auto& of_stack = curves[at.stack];
      of_stack.resize(std::size(kMeasures));
      for (std::size_t m = 0; m < std::size(kMeasures); ++m) {
        const RowMatrix left = centred(x, kMeasures[m].minimiser);
        of_stack[m].add(at.layer, norm_of(left, kMeasures[m].norm) / norm_of(x, kMeasures[m].norm));
        if (m == 0) kept[{at.stack, at.layer}].push_back(left.values);
      }
    });
    measure_noise(subject, kept, curves);
    return report(subject, curves, single);
  }

 private:
  // The same with noise: the mean norm of what it moves the residual by, over that of the rows.
  static void measure_noise(
      ProbeSubject& subject,
      const std::map<std::pair<std::string, Index>, std::vector<std::vector<double>>>& kept,
      std::map<std::string, std::vector<Curve>>& curves) {
    const LastPlaceNoise noise(subject.model, subject.seed);
    std::map<std::pair<std::string, Index>, std::size_t> next;
    for_each_stream(subject, [&](const StreamPlace& at, const RowMatrix& x) {
      if (x.rows < 2) return;
      const auto place = std::make_pair(at.stack, at.layer);
      const auto& before = kept.at(place);
      RowMatrix moved = centred(x, false);
      const std::vector<double>& still = before[next[place]++];
      for (std::size_t i = 0; i < still.size(); ++i) moved.values[i] -= still[i];
      for (std::size_t m = 0; m < std::size(kMeasures); ++m) {
        auto& sums = curves.at(at.stack)[m].noise;
        sums.resize(std::max(sums.size(), static_cast<std::size_t>(at.layer) + 1));
        sums[static_cast<std::size_t>(at.layer)] += norm_of(moved, kMeasures[m].norm) /
                                                    norm_of(x, kMeasures[m].norm) /
                                                    static_cast<double>(before.size());
      }
    });
  }

  ProbeResult report(const ProbeSubject& subject, const std::map<std::string, std::vector<Curve>>& curves,
                     std::size_t single) const {
    ProbeResult result;
    Table table{"residual_norm",
                {"stack", "layer", "centre", "norm", "mean", "sd", "geometric_mean", "noise", "log_ratio",
                 "slope", "qualifies"},
                {}};
    for (const auto& [stack, of_stack] : curves)
      for (std::size_t m = 0; m < of_stack.size(); ++m)
        add_curve(stack, kMeasures[m], of_stack[m], table, result);
    result.tables.push_back(std::move(table));
    result.numbers.set("sentences", static_cast<std::int64_t>(subject.examples.size()));
    if (single > 0)
      result.notes.push_back(
          join_text(single, " sentences of one token are left out: their residual is zero"));
    return result;
  }

  void add_curve(const std::string& stack, const Measure& measure, const Curve& curve, Table& table,
                 ProbeResult& result) const {
    const std::vector<double> means = curve.means();
    const Steps steps = steps_of(means, curve.noise, low, high);
    const std::string name = stack + "." + measure.centre + "." + measure.norm_name;
    std::int64_t qualifying = 0;
    double least = kNothing, most = kNothing, least_slope = kNothing, most_slope = kNothing;
    std::vector<double> all;
    for (std::size_t l = 0; l < means.size(); ++l) {
      const auto& values = curve.by_layer[l];
      table.rows.push_back({stack, static_cast<std::int64_t>(l), std::string(measure.centre),
                            std::string(measure.norm_name), means[l], moments_of(values).deviation,
                            geometric_mean(values), curve.noise[l], steps.log_ratio[l], steps.slope[l],
                            static_cast<bool>(steps.qualifies[l])});
      result.numbers.set(join_text(name, ".layer_", l), means[l]);
      all.insert(all.end(), values.begin(), values.end());
      if (!steps.qualifies[l]) continue;
      ++qualifying;
      least = std::fmin(least, steps.log_ratio[l]), most = std::fmax(most, steps.log_ratio[l]);
      least_slope = std::fmin(least_slope, steps.slope[l]),
      most_slope = std::fmax(most_slope, steps.slope[l]);
    }
    result.numbers.set(name + ".qualifying_steps", qualifying);
    result.numbers.set(name + ".least_log_ratio", least);
    result.numbers.set(name + ".most_log_ratio", most);
    result.numbers.set(name + ".least_slope", least_slope);
    result.numbers.set(name + ".most_slope", most_slope);
    const auto layers = static_cast<Index>(means.size());
    result.arrays.push_back(
        {name, Tensor::from({layers, static_cast<Index>(all.size()) / layers}, DType::f64, all)});
    result.arrays.push_back({name + ".noise", Tensor::from({layers}, DType::f64, curve.noise)});
  }
};

const Registered<ProbeSpec, ResidualNorm> registered{"residual_norm",
                                                     "how far tokens are from being all alike, by depth"};

}  // namespace
}  // namespace attnlab
