// How long the vectors are that every head carries: its values, and what it makes of them (Kobayashi et al.
// 2020 show that weights alone mislead where values are short).
#include <cmath>

#include "study/attention_places.h"
#include "study/moments.h"
#include "study/probe.h"

namespace attnlab {
namespace {

// The norm of every row's columns of head h.
void add_norms(const Tensor& rows, Index H, std::vector<std::vector<double>>& norms) {
  const auto all = rows.to_doubles();
  const Index V = rows.columns() / H;
  norms.resize(static_cast<std::size_t>(H));
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index h = 0; h < H; ++h) {
      double square = 0;
      for (Index j = 0; j < V; ++j) {
        const double value = all[static_cast<std::size_t>((i * H + h) * V + j)];
        square += value * value;
      }
      norms[static_cast<std::size_t>(h)].push_back(std::sqrt(square));
    }
}

struct ValueNorms final : ProbeSpec {
  void fields(Fields&) override {}
  std::string refusal(const ModelSpec& spec) const override {
    return has_heads(spec) ? "" : "the model has no attention";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    const auto places = attention_places(subject.model);
    std::vector<std::vector<std::vector<double>>> values(places.size()), outputs(places.size());
    Recorder seen(subject.model, [](const std::string&, std::string_view what) {
      return what == "value" || what == "heads";
    });
    for_each_batch(subject, [&](const ModelInput& input, Index) {
      seen.clear();
      Tape tape({.training = false});
      subject.model.hidden(tape, input);
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (seen.find(places[i].path(), "value") != nullptr)
          add_norms(seen.at(places[i].path(), "value"), places[i].heads(), values[i]);
        add_norms(seen.at(places[i].path(), "heads"), places[i].heads(), outputs[i]);
      }
    });
    return report(places, values, outputs);
  }

 private:
  using Norms = std::vector<std::vector<std::vector<double>>>;  // by place and head
  static ProbeResult report(const std::vector<AttentionPlace>& places, const Norms& values,
                            const Norms& outputs) {
    ProbeResult result;
    Table table{"value_norms", {"type", "layer", "head", "value", "value_sd", "output", "output_sd"}, {}};
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string name = join_text(to_string(places[i].type), ".layer_", places[i].layer);
      std::vector<double> means;
      double mean = 0;
      for (std::size_t h = 0; h < outputs[i].size(); ++h) {
        const Moments value = values[i].empty() ? Moments{} : moments_of(values[i][h]);
        const Moments output = moments_of(outputs[i][h]);
        table.rows.push_back({to_string(places[i].type), places[i].layer, static_cast<std::int64_t>(h),
                              value.mean, value.deviation, output.mean, output.deviation});
        means.push_back(value.mean);
        mean += value.mean / static_cast<double>(outputs[i].size());
      }
      result.numbers.set(name, mean);
      result.arrays.push_back({name, Tensor::from({places[i].heads()}, DType::f64, means)});
    }
    result.tables.push_back(std::move(table));
    return result;
  }
};

const Registered<ProbeSpec, ValueNorms> registered{"value_norms",
                                                   "how long value vectors and head outputs are"};

}  // namespace
}  // namespace attnlab
