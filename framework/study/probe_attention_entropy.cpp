// How sharply every head looks: the entropy of its weights, their largest (confidence: Voita et al. 2019,
// section 5.1), and where they lie.
#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "study/attention_places.h"
#include "study/probe.h"

namespace attnlab {
namespace {

// Sums over the queries of one head.
struct HeadSums {
  double entropy = 0, relative = 0, confidence = 0, own = 0, before = 0;
  double queries = 0, choosing = 0;  // the latter see more than one key

  // Weights of one query over the keys it may see; `here` is its own position among all keys.
  void add(const std::vector<double>& weights, Index first, Index here) {
    double bits = 0, most = 0;
    for (const double w : weights) {
      if (w > 0) bits -= w * std::log(w);
      most = std::max(most, w);
    }
    entropy += bits;
    confidence += most;
    ++queries;
    const auto weight_at = [&](Index s) {
      const Index place = s - first;
      return place < 0 || place >= static_cast<Index>(weights.size())
                 ? 0
                 : weights[static_cast<std::size_t>(place)];
    };
    own += weight_at(here);
    before += weight_at(here - 1);
    if (weights.size() < 2) return;
    relative += bits / std::log(static_cast<double>(weights.size()));
    ++choosing;
  }
};

struct AttentionEntropy final : ProbeSpec {
  void fields(Fields&) override {}
  std::string refusal(const ModelSpec& spec) const override {
    return has_heads(spec) ? "" : "the model has no attention";
  }

  ProbeResult run(ProbeSubject& subject) const override {
    const auto places = attention_places(subject.model);
    std::vector<std::vector<HeadSums>> sums;
    for (const AttentionPlace& place : places) sums.emplace_back(static_cast<std::size_t>(place.heads()));
    Recorder seen(subject.model, wants_attention);
    for_each_batch(subject, [&](const ModelInput& input, Index) {
      seen.clear();
      Tape tape({.training = false});
      subject.model.hidden(tape, input);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const Mask mask = mask_at(places[i], subject.model.spec(), input);
        add_map(places[i], attention_map(places[i], seen, mask), mask, sums[i]);
      }
    });
    return report(places, sums);
  }

 private:
  static void add_map(const AttentionPlace& place, const Tensor& map, const Mask& mask,
                      std::vector<HeadSums>& sums) {
    const auto all = map.to_doubles();
    const Index H = map.shape()[1], T = map.shape()[2], S = map.shape()[3];
    for (Index b = 0; b < mask.queries.count(); ++b)
      for (Index h = 0; h < H; ++h)
        for (Index t = 0; t < mask.queries.length(b); ++t) {
          const Interval visible = mask.visible(b, t);
          if (visible.empty()) continue;
          const auto row = all.begin() + ((b * H + h) * T + t) * S;
          const std::vector<double> weights(row + visible.begin, row + visible.end);
          require_distribution(place, weights);
          sums[static_cast<std::size_t>(h)].add(weights, visible.begin, mask.position(b, t));
        }
  }

  static void require_distribution(const AttentionPlace& place, const std::vector<double>& weights) {
    double sum = 0, least = 0;
    for (const double w : weights) sum += w, least = std::min(least, w);
    if (std::fabs(sum - 1) > 0.02 || least < -1e-6)
      throw ConfigError(
          "error: " + place.path() +
          ": the weights of this kind of attention are no distribution, so they have no entropy");
  }

  static ProbeResult report(const std::vector<AttentionPlace>& places,
                            const std::vector<std::vector<HeadSums>>& sums) {
    ProbeResult result;
    Table table{
        "attention_entropy",
        {"type", "layer", "head", "entropy", "relative_entropy", "confidence", "own_position", "one_before"},
        {}};
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::vector<double> entropies;
      double mean = 0;
      for (std::size_t h = 0; h < sums[i].size(); ++h) {
        const HeadSums& head = sums[i][h];
        const double n = std::max(head.queries, 1.0), choosing = std::max(head.choosing, 1.0);
        table.rows.push_back({to_string(places[i].type), places[i].layer, static_cast<std::int64_t>(h),
                              head.entropy / n, head.relative / choosing, head.confidence / n, head.own / n,
                              head.before / n});
        entropies.push_back(head.entropy / n);
        mean += head.relative / choosing / static_cast<double>(sums[i].size());
      }
      const std::string name = join_text(to_string(places[i].type), ".layer_", places[i].layer);
      result.numbers.set(name + ".relative_entropy", mean);
      result.arrays.push_back({name, Tensor::from({places[i].heads()}, DType::f64, entropies)});
    }
    result.tables.push_back(std::move(table));
    result.notes.emplace_back(
        "entropy in nats; relative: over the largest possible, ln of the keys seen; one_before: of all "
        "queries, also the first, which has none before it");
    return result;
  }
};

const Registered<ProbeSpec, AttentionEntropy> registered{"attention_entropy", "how sharply every head looks"};

}  // namespace
}  // namespace attnlab
