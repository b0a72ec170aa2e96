// The importance of every head (Michel et al. 2019, section 3.3) by all three estimators.
#include "study/importance.h"
#include "study/probe.h"

namespace attnlab {
namespace {

struct HeadImportanceProbe final : ProbeSpec {
  ImportanceEstimator estimator = ImportanceEstimator::token;
  bool normalise = true;

  void fields(Fields& f) override {
    f.choice("estimator", estimator,
             {{"token", ImportanceEstimator::token},
              {"sample", ImportanceEstimator::sample},
              {"batch", ImportanceEstimator::batch}},
             "where the absolute value is taken: per token, per sentence or per batch");
    f("normalise", normalise, "divide by the l2 norm over the heads of each layer");
  }
  std::string refusal(const ModelSpec& spec) const override {
    return has_heads(spec) ? "" : "the model has no attention, so it has no heads";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    ProbeResult result;
    Table table{"head_importance", {"type", "layer", "head", "importance", "token", "sample", "batch"}, {}};
    for (const HeadImportance& one : head_importance(subject)) {
      const auto& chosen = one.of(estimator);
      const std::vector<double> importance = normalise ? normalised(chosen) : chosen;
      const std::string name = join_text(to_string(one.place.type), ".layer_", one.place.layer);
      for (std::size_t h = 0; h < importance.size(); ++h) {
        table.rows.push_back({to_string(one.place.type), one.place.layer, static_cast<std::int64_t>(h),
                              importance[h], one.token[h], one.sample[h], one.batch[h]});
        result.numbers.set(join_text(name, ".head_", h), importance[h]);
      }
      result.arrays.push_back({name, Tensor::from({one.place.heads()}, DType::f64, importance)});
    }
    result.tables.push_back(std::move(table));
    result.notes.emplace_back(
        "importance: the chosen estimator; token, sample and batch: as they are, in nats");
    return result;
  }
};

const Registered<ProbeSpec, HeadImportanceProbe> registered{
    "head_importance", "how much the loss would move with every head's gate"};

}  // namespace
}  // namespace attnlab
