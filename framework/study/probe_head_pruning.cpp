// What heads are worth: scores with single heads out, with one head left in a layer, and with more and more
// heads out by importance, by the drop that each causes, and at random (Michel et al. 2019, sections 3 and
// 4).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "config/error.h"
#include "study/importance.h"
#include "study/moments.h"
#include "study/probe.h"
#include "study/pruning.h"

namespace attnlab {
namespace {

struct HeadPruningSpec {
  ImportanceEstimator estimator = ImportanceEstimator::token;
  std::string metric;
  std::int64_t sentences = 400, beam = 1, random_orders = 20, resamples = 1000;
  std::vector<double> fractions{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
  bool single = true, best_alone = true, keep_one = true, mean_ablation = false;

  void fields(Fields& f) {
    f.choice("estimator", estimator,
             {{"token", ImportanceEstimator::token},
              {"sample", ImportanceEstimator::sample},
              {"batch", ImportanceEstimator::batch}},
             "of the importance by which heads go");
    f("metric", metric,
      "bleu, chrf, exact_match, accuracy (of labels) or log_likelihood; empty: the task's first");
    f("sentences", sentences, at_least(1), "scored, of the first test set");
    f("beam", beam, at_least(1), "of decoding; 1: greedy");
    f("random_orders", random_orders, at_least(0), "random orders to compare with, for each type");
    f("resamples", resamples, at_least(1), "of the paired bootstrap");
    f("fractions", fractions, between(0, 1), "shares of heads that are out");
    f("single", single, "score every head's removal by itself; needed for the order by drop");
    f("best_alone", best_alone, "for every layer, the best head as its only one");
    f("keep_one", keep_one, "all types together, with one head of every layer kept to the last");
    f("mean_ablation", mean_ablation, "a head that is out gives its mean instead of zero");
  }
};

// One study of one model.
class Pruner {
 public:
  Pruner(ProbeSubject& subject, const HeadPruningSpec& spec)
      : spec_(spec),
        seed_(subject.seed),
        places_(attention_places(subject.model)),
        heads_(all_heads(places_)),
        corpus_(first_sentences(subject.scored)),
        score_(subject.model, *subject.target, corpus_, spec.metric.empty() ? subject.metric : spec.metric,
               decoding(subject.decode)) {
    for (const HeadImportance& one : head_importance(subject))
      for (const double value : normalised(one.of(spec.estimator))) importance_.push_back(value);
    if (spec.mean_ablation) means_ = mean_heads(subject, places_);
    mask_.emplace(subject.model, places_, means_);
    scores_.emplace(score_, *mask_);
  }

  ProbeResult run() {
    base_ = scores_->value({});
    result_.numbers.set("score", base_);
    if (spec_.single) remove_one_by_one();
    if (spec_.best_alone) leave_one();
    for (const AttentionType type : {AttentionType::encoder, AttentionType::decoder, AttentionType::cross})
      prune(to_string(type), of_type(type));
    if (types_ > 1) prune("pooled", heads_);
    compare_types();
    finish();
    return std::move(result_);
  }

 private:
  Corpus first_sentences(const Corpus& all) const {
    Corpus corpus = all;
    const auto most = static_cast<std::size_t>(spec_.sentences);
    corpus.examples.resize(std::min(corpus.examples.size(), most));
    corpus.references.resize(std::min(corpus.references.size(), most));
    return corpus;
  }
  DecodeSpec decoding(DecodeSpec decode) const {
    decode.beam = spec_.beam;
    decode.n_best = 1;
    decode.sample = false;
    return decode;
  }
  std::vector<HeadId> of_type(AttentionType type) const {
    std::vector<HeadId> some;
    for (const HeadId& head : heads_)
      if (places_[head.place].type == type) some.push_back(head);
    return some;
  }
  std::size_t number_of(const HeadId& head) const {
    return static_cast<std::size_t>(std::lower_bound(heads_.begin(), heads_.end(), head) - heads_.begin());
  }
  std::vector<double> of(const std::vector<HeadId>& heads, const std::vector<double>& values) const {
    std::vector<double> some;
    for (const HeadId& head : heads) some.push_back(values[number_of(head)]);
    return some;
  }
  double p_value(const std::vector<HeadId>& removed) {
    return score_.compare(scores_->segments({}), scores_->segments(removed), spec_.resamples, seed_).p_value;
  }
  std::vector<RecordValue> start_of_row(const HeadId& head) const {
    return {to_string(places_[head.place].type), places_[head.place].layer, head.head};
  }

  void remove_one_by_one() {
    Table table{"single", {"type", "layer", "head", "score", "change", "p", "importance"}, {}};
    for (const HeadId& head : heads_) {
      const double value = scores_->value({head});
      auto row = start_of_row(head);
      row.insert(row.end(), {value, value - base_, p_value({head}), importance_[number_of(head)]});
      table.rows.push_back(std::move(row));
      drops_.push_back(base_ - value);
    }
    result_.tables.push_back(std::move(table));
  }

  // Every place: all heads but one out, for the head with which that is best.
  void leave_one() {
    Table table{"best_alone", {"type", "layer", "head", "score", "change", "p"}, {}};
    double last_cross = 0, most_encoder = 0;  // losses
    for (std::size_t place = 0; place < places_.size(); ++place) {
      std::optional<HeadId> best;
      std::vector<HeadId> best_removed;
      for (const HeadId& head : heads_) {
        if (head.place != place) continue;
        std::vector<HeadId> others;
        for (const HeadId& other : heads_)
          if (other.place == place && other != head) others.push_back(other);
        if (best && scores_->value(others) <= scores_->value(best_removed)) continue;
        best = head;
        best_removed = others;
      }
      const double value = scores_->value(best_removed);
      auto row = start_of_row(*best);
      row.insert(row.end(), {value, value - base_, p_value(best_removed)});
      table.rows.push_back(std::move(row));
      result_.numbers.set(join_text("best_alone.", to_string(places_[place].type), ".layer_",
                                    places_[place].layer, ".change"),
                          value - base_);
      const AttentionType type = places_[place].type;
      if (type == AttentionType::encoder) most_encoder = std::max(most_encoder, base_ - value);
      if (type == AttentionType::cross) last_cross = base_ - value;  // layers come in order
    }
    // Where no encoder layer loses anything, a thousandth of the score stands for its loss.
    if (last_cross != 0)
      result_.numbers.set("best_alone.last_cross_over_encoder",
                          last_cross / std::max(most_encoder, 1e-3 * std::fabs(base_)));
    result_.tables.push_back(std::move(table));
  }

  void prune(const std::string& type, const std::vector<HeadId>& heads) {
    if (heads.empty()) return;
    types_ += type == "pooled" ? 0 : 1;
    const auto by_importance = least_first(heads, of(heads, importance_));
    const double area = add_curve(type, "importance", by_importance);
    if (!drops_.empty()) {
      add_curve(type, "drop", least_first(heads, of(heads, drops_)));
      result_.numbers.set(type + ".importance_drop_correlation",
                          rank_correlation(of(heads, importance_), of(heads, drops_)));
    }
    if (type == "pooled" && spec_.keep_one)
      add_curve(type, "importance, one kept a layer", keeping_one(by_importance));
    compare_with_random(type, heads, area);
  }

  void compare_with_random(const std::string& type, const std::vector<HeadId>& heads, double area) {
    if (spec_.random_orders == 0) return;
    std::vector<double> areas;
    for (Index i = 0; i < spec_.random_orders; ++i)
      areas.push_back(add_curve(type, join_text("random ", i), random_order(heads, seed_, i)));
    const Moments moments = moments_of(areas);
    const auto as_good = std::count_if(areas.begin(), areas.end(), [area](double a) { return a >= area; });
    const auto count = static_cast<double>(areas.size());
    result_.numbers.set(type + ".random.mean_score", moments.mean);
    result_.numbers.set(type + ".random.sd", moments.deviation);
    result_.numbers.set(type + ".importance.share_of_random_beaten",
                        1 - static_cast<double>(as_good) / count);
    result_.numbers.set(type + ".importance.p", (static_cast<double>(as_good) + 1) / (count + 1));
  }

  double add_curve(const std::string& type, const std::string& order, const std::vector<HeadId>& heads) {
    const PruningCurve curve = pruning_curve(*scores_, heads, spec_.fractions);
    const double area = mean_score(curve);
    for (std::size_t i = 0; i < curve.score.size(); ++i) {
      curves_.rows.push_back({type, order, curve.removed[i], spec_.fractions[i], curve.score[i]});
      if (order == "importance") note_share(type, percent(spec_.fractions[i]), curve.score[i]);
    }
    areas_.rows.push_back({type, order, area});
    if (order == "importance" || order == "drop")
      result_.numbers.set(type + "." + order + ".mean_score", area);
    return area;
  }

  static std::string percent(double share) { return std::to_string(std::lround(100 * share)); }

  // Of what cross-attention is worth, a share is kept: without any of it the decoder sees no source.
  void note_share(const std::string& type, const std::string& share, double score) {
    result_.numbers.set(type + ".importance.without_" + share, score);
    result_.numbers.set(type + ".importance.loss_" + share, base_ - score);
    const auto cross = of_type(AttentionType::cross);
    if (cross.empty()) return;
    const double blind = scores_->value(cross);
    if (base_ > blind)
      result_.numbers.set(type + ".importance.kept_" + share, (score - blind) / (base_ - blind));
  }

  // What the types differ by when the same share of each is out.
  void compare_types() {
    for (const auto& [a, b] : {std::pair{"encoder", "cross"}, {"encoder", "decoder"}, {"decoder", "cross"}})
      for (const double share : spec_.fractions) {
        const std::string at = ".importance.without_" + percent(share);
        if (result_.numbers.find(a + at) == nullptr || result_.numbers.find(b + at) == nullptr) continue;
        result_.numbers.set(join_text(a, "_minus_", b, ".without_", percent(share)),
                            result_.numbers.number(a + at) - result_.numbers.number(b + at));
      }
  }

  // Spearman's, equals share their ranks.
  static double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto ranks = [](const std::vector<double>& values) {
      std::vector<double> result;
      for (const double v : values) {
        double below = 0, equal = 0;
        for (const double other : values) below += other < v ? 1 : 0, equal += other == v ? 1 : 0;
        result.push_back(below + (equal - 1) / 2);
      }
      return result;
    };
    const auto x = ranks(a), y = ranks(b);
    const double middle = (static_cast<double>(a.size()) - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      xy += (x[i] - middle) * (y[i] - middle);
      xx += (x[i] - middle) * (x[i] - middle);
      yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
  }

  void finish() {
    result_.tables.push_back(std::move(curves_));
    result_.tables.push_back(std::move(areas_));
    result_.numbers.set("sentences", static_cast<std::int64_t>(corpus_.examples.size()));
    result_.numbers.set("scored_models", static_cast<std::int64_t>(scores_->evaluations()));
    result_.notes.push_back("scores: " + score_.metric() + "; a head that is out gives " +
                            (spec_.mean_ablation ? "its mean" : "zero"));
    if (!drops_.empty())
      result_.notes.emplace_back(
          "the order by drop knows the sentences that it is scored on: an upper bound");
  }

  const HeadPruningSpec& spec_;
  std::uint64_t seed_;
  std::vector<AttentionPlace> places_;
  std::vector<HeadId> heads_;  // of all places, in order
  Corpus corpus_;
  PruningScore score_;
  std::vector<double> importance_, drops_;  // of all heads
  std::vector<Tensor> means_;
  std::optional<HeadMask> mask_;
  std::optional<MaskedScores> scores_;
  double base_ = 0;
  int types_ = 0;
  Table curves_{"curves", {"type", "order", "removed", "share", "score"}, {}};
  Table areas_{"areas", {"type", "order", "mean_score"}, {}};
  ProbeResult result_;
};

struct HeadPruning final : ProbeSpec {
  HeadPruningSpec own;
  void fields(Fields& f) override { own.fields(f); }
  std::string refusal(const ModelSpec& spec) const override {
    return has_heads(spec) ? "" : "the model has no attention, so it has no heads";
  }
  ProbeResult run(ProbeSubject& subject) const override {
    HeadPruningSpec ascending = own;  // curves go from few heads out to many
    auto& shares = ascending.fractions;
    std::sort(shares.begin(), shares.end());
    shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
    return Pruner(subject, ascending).run();
  }
};

const Registered<ProbeSpec, HeadPruning> registered{"head_pruning",
                                                    "scores with heads out, one by one and in orders"};

}  // namespace
}  // namespace attnlab
