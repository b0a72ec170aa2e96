#include "study/pruning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "config/error.h"
#include "train/decode.h"
#include "train/scoring.h"

namespace attnlab {
namespace {

// Per segment: log-probability, tokens.
struct LogLikelihood final : ScoreSpec {
  void fields(Fields&) override {}
  SegmentStatistics segment(std::size_t, const Lines&, const std::vector<Lines>&) const override {
    throw ConfigError("error: log_likelihood is no score of texts");
  }
  Score score(const SegmentStatistics& sum, std::size_t) const override {
    return {"log_likelihood", sum[0] / std::max(sum[1], 1.0), "", ""};
  }
};

}  // namespace

PruningScore::PruningScore(const Transformer& model, const Tokenizer& target, const Corpus& corpus,
                           std::string metric, const DecodeSpec& decode)
    : model_(model), target_(target), corpus_(corpus), metric_(std::move(metric)), decode_(decode) {
  if (corpus.examples.empty()) throw ConfigError("error: pruning needs sentences to score");
  if (metric_ == "log_likelihood") {
    score_ = std::make_shared<LogLikelihood>();
    return;
  }
  score_ = Registry<ScoreSpec>::make(metric_);
  if (corpus.references.empty())
    throw ConfigError("error: '" + metric_ +
                      "' needs references, in a text of one's own SOURCE<TAB>TARGET in every line; without "
                      "them there is metric=log_likelihood");
}

Lines PruningScore::outputs() const {
  if (!model_.spec().pooled()) {
    std::vector<std::vector<Token>> inputs;
    for (const Example& example : corpus_.examples) inputs.push_back(example.source);
    return best_lines(decode(model_, inputs, decode_options(decode_, target_, 1)), target_);
  }
  Lines lines;
  for (const auto& labels : classify(model_, corpus_.examples)) lines.push_back(target_.decode(labels));
  return lines;
}

std::vector<SegmentStatistics> PruningScore::segments() const {
  restart(model_);  // scores that are compared draw the same
  if (metric_ != "log_likelihood") return score_->statistics(outputs(), {corpus_.references});
  std::vector<SegmentStatistics> all;
  for (const ReferenceScore& one : score_reference(model_, corpus_.examples))
    all.push_back({one.log_probability, static_cast<double>(one.tokens)});
  return all;
}

double PruningScore::of(const std::vector<SegmentStatistics>& segments) const {
  return score_->score(sum_of(segments), 1).value;
}

PairedBootstrap PruningScore::compare(const std::vector<SegmentStatistics>& baseline,
                                      const std::vector<SegmentStatistics>& system, Index resamples,
                                      std::uint64_t seed) const {
  return paired_bootstrap(*score_, baseline, system, {resamples, seed});
}

const std::vector<SegmentStatistics>& MaskedScores::segments(std::vector<HeadId> removed) {
  std::sort(removed.begin(), removed.end());
  const auto found = seen_.find(removed);
  if (found != seen_.end()) return found->second;
  mask_.remove(removed);
  auto segments = score_.segments();
  mask_.remove({});
  return seen_.emplace(std::move(removed), std::move(segments)).first->second;
}

std::vector<HeadId> least_first(const std::vector<HeadId>& heads, const std::vector<double>& importance) {
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&importance](std::size_t a, std::size_t b) { return importance[a] < importance[b]; });
  std::vector<HeadId> result;
  for (const std::size_t i : order) result.push_back(heads[i]);
  return result;
}

std::vector<HeadId> keeping_one(const std::vector<HeadId>& order) {
  std::vector<HeadId> first, last;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto same_place = [&order, i](const HeadId& other) { return other.place == order[i].place; };
    const bool is_last =
        std::none_of(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(), same_place);
    (is_last ? last : first).push_back(order[i]);
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

std::vector<HeadId> random_order(std::vector<HeadId> heads, std::uint64_t seed, Index number) {
  const Random random(seed, stream_name("pruning.random_order"), static_cast<std::uint64_t>(number));
  std::vector<HeadId> order;
  for (const Index i : random.permutation(static_cast<Index>(heads.size())))
    order.push_back(heads[static_cast<std::size_t>(i)]);
  return order;
}

PruningCurve pruning_curve(MaskedScores& scores, const std::vector<HeadId>& order,
                           const std::vector<double>& fractions) {
  PruningCurve curve;
  for (const double fraction : fractions) {
    const auto count = static_cast<std::ptrdiff_t>(std::lround(fraction * static_cast<double>(order.size())));
    curve.removed.push_back(count);
    curve.score.push_back(scores.value({order.begin(), order.begin() + count}));
  }
  return curve;
}

double mean_score(const PruningCurve& curve) {
  double area = 0;
  for (std::size_t i = 1; i < curve.score.size(); ++i)
    area += static_cast<double>(curve.removed[i] - curve.removed[i - 1]) *
            (curve.score[i] + curve.score[i - 1]) / 2;
  const Index width = curve.removed.empty() ? 0 : curve.removed.back() - curve.removed.front();
  return width > 0 ? area / static_cast<double>(width) : curve.score.empty() ? 0 : curve.score.front();
}

}  // namespace attnlab
