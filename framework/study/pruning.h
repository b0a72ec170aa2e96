// Scores of a model with some heads out, orders in which to take them out, and curves of the one against the
// other (Michel et al. 2019, sections 3 and 4).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/task.h"
#include "study/head_mask.h"
#include "train/bootstrap.h"
#include "train/decode_spec.h"

namespace attnlab {

// What a model is scored on, segment by segment. Higher is better.
class PruningScore {
 public:
  // `metric`: "bleu", "chrf" or another registered score, of what is decoded greedily or with the spec's
  // beam, or of the labels that a pooled head gives, such as "accuracy"; or "log_likelihood": the mean
  // log-probability of a reference token or label, in nats. Throws ConfigError, DataError.
  PruningScore(const Transformer& model, const Tokenizer& target, const Corpus& corpus, std::string metric,
               const DecodeSpec& decode);
  const std::string& metric() const { return metric_; }
  std::shared_ptr<const ScoreSpec> spec() const { return score_; }
  std::vector<SegmentStatistics> segments() const;  // of the model as it is now
  double of(const std::vector<SegmentStatistics>& segments) const;
  PairedBootstrap compare(const std::vector<SegmentStatistics>& baseline,
                          const std::vector<SegmentStatistics>& system, Index resamples,
                          std::uint64_t seed) const;

 private:
  Lines outputs() const;  // what the model says to every example
  const Transformer& model_;
  const Tokenizer& target_;
  const Corpus& corpus_;
  std::string metric_;
  DecodeSpec decode_;
  std::shared_ptr<const ScoreSpec> score_;
};

// Scores by the heads that are out, each set scored once.
class MaskedScores {
 public:
  MaskedScores(const PruningScore& score, HeadMask& mask) : score_(score), mask_(mask) {}
  const std::vector<SegmentStatistics>& segments(std::vector<HeadId> removed);
  double value(const std::vector<HeadId>& removed) { return score_.of(segments(removed)); }
  std::size_t evaluations() const { return seen_.size(); }

 private:
  const PruningScore& score_;
  HeadMask& mask_;
  std::map<std::vector<HeadId>, std::vector<SegmentStatistics>> seen_;
};

// Heads in the order in which they go, given how much each matters: the least first, equals in their order.
std::vector<HeadId> least_first(const std::vector<HeadId>& heads, const std::vector<double>& importance);
// The same order, but the last head of every place goes only after all that are not the last of theirs.
std::vector<HeadId> keeping_one(const std::vector<HeadId>& order);
std::vector<HeadId> random_order(std::vector<HeadId> heads, std::uint64_t seed, Index number);

struct PruningCurve {
  std::vector<Index> removed;  // heads out
  std::vector<double> score;
};
// Scores with the first round(f n) heads of the order out, for every fraction f.
PruningCurve pruning_curve(MaskedScores& scores, const std::vector<HeadId>& order,
                           const std::vector<double>& fractions);
// The mean score over the share of heads removed: the area under the curve, by trapezoids, over its width.
double mean_score(const PruningCurve& curve);

}  // namespace attnlab
