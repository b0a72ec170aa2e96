// How alike the tokens of a sentence are, by depth: the mean cosine between all pairs of them. One where
// attention has made them all the same.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "study/layer_outputs.h"
#include "study/moments.h"
#include "study/probe.h"

namespace attnlab {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Those that there are.
std::vector<double> known(const std::vector<double>& values) {
  std::vector<double> some;
  std::copy_if(values.begin(), values.end(), std::back_inserter(some),
               [](double v) { return !std::isnan(v); });
  return some;
}

struct TokenCosine final : ProbeSpec {
  void fields(Fields&) override {}
  DType precision() const override { return DType::f64; }
  std::string refusal(const ModelSpec& spec) const override {
    return has_layers(spec) ? "" : "the model has no layers";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    std::map<std::string, std::vector<std::vector<double>>> cosines;  // by stack and layer
    for_each_stream(subject, [&cosines](const StreamPlace& at, const RowMatrix& x) {
      if (x.rows < 2) return;
      auto& layers = cosines[at.stack];
      layers.resize(std::max(layers.size(), static_cast<std::size_t>(at.layer) + 1));
      layers[static_cast<std::size_t>(at.layer)].push_back(mean_cosine(x).value_or(kNothing));
    });
    ProbeResult result;
    Table table{"token_cosine", {"stack", "layer", "mean", "sd"}, {}};
    std::size_t left_out = 0;
    for (const auto& [stack, layers] : cosines) {
      std::vector<double> all;
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const std::vector<double> some = known(layers[l]);
        left_out += layers[l].size() - some.size();
        const Moments moments = some.empty() ? Moments{kNothing, kNothing} : moments_of(some);
        table.rows.push_back({stack, static_cast<std::int64_t>(l), moments.mean, moments.deviation});
        result.numbers.set(join_text(stack, ".layer_", l), moments.mean);
        all.insert(all.end(), layers[l].begin(), layers[l].end());
      }
      const auto count = static_cast<Index>(layers.size());
      result.arrays.push_back(
          {stack, Tensor::from({count, static_cast<Index>(all.size()) / count}, DType::f64, all)});
    }
    result.tables.push_back(std::move(table));
    if (left_out > 0)
      result.notes.push_back(
          join_text("sentences with fewer than two rows that are not zero are left out, over all layers ",
                    left_out, " times"));
    return result;
  }
};

const Registered<ProbeSpec, TokenCosine> registered{"token_cosine",
                                                    "mean cosine between the tokens of a sentence"};

}  // namespace
}  // namespace attnlab
