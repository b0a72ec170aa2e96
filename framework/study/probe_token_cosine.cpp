// How alike the tokens of a sentence are, by depth: the mean cosine between all pairs of them. One where
// attention has made them all the same.
#include <cmath>
#include <map>

#include "study/layer_outputs.h"
#include "study/moments.h"
#include "study/probe.h"

namespace attnlab {
namespace {

// The mean over pairs of different rows, from the norm of the sum of unit rows.
double mean_cosine(const RowMatrix& x) {
  std::vector<double> sum(static_cast<std::size_t>(x.columns));
  for (Index i = 0; i < x.rows; ++i) {
    double square = 0;
    for (Index j = 0; j < x.columns; ++j) square += x.at(i, j) * x.at(i, j);
    const double norm = std::sqrt(square);
    for (Index j = 0; j < x.columns && norm > 0; ++j) sum[static_cast<std::size_t>(j)] += x.at(i, j) / norm;
  }
  double square = 0;
  for (const double value : sum) square += value * value;
  const auto n = static_cast<double>(x.rows);
  return (square - n) / (n * (n - 1));
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
      layers[static_cast<std::size_t>(at.layer)].push_back(mean_cosine(x));
    });
    ProbeResult result;
    Table table{"token_cosine", {"stack", "layer", "mean", "sd"}, {}};
    for (const auto& [stack, layers] : cosines) {
      std::vector<double> all;
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const Moments moments = moments_of(layers[l]);
        table.rows.push_back({stack, static_cast<std::int64_t>(l), moments.mean, moments.deviation});
        result.numbers.set(join_text(stack, ".layer_", l), moments.mean);
        all.insert(all.end(), layers[l].begin(), layers[l].end());
      }
      const auto count = static_cast<Index>(layers.size());
      result.arrays.push_back(
          {stack, Tensor::from({count, static_cast<Index>(all.size()) / count}, DType::f64, all)});
    }
    result.tables.push_back(std::move(table));
    return result;
  }
};

const Registered<ProbeSpec, TokenCosine> registered{"token_cosine",
                                                    "mean cosine between the tokens of a sentence"};

}  // namespace
}  // namespace attnlab
