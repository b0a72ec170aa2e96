// Bootstrap over seeds and sentences at once: how far a difference of two arms may move with the choice of
// either.
#pragma once

#include <span>
#include <vector>

#include "study/statistics.h"
#include "train/bootstrap.h"

namespace attnlab {

// Both arms of one seed, with statistics of every sentence of the same test set.
struct SeedPair {
  std::vector<SegmentStatistics> arm, other;
};

// The score of these sentences together; each may be chosen more than once.
double score_of(const ScoreSpec& spec, const std::vector<SegmentStatistics>& segments,
                const std::vector<std::size_t>& chosen);

// The central 95 % of what was resampled, between order statistics as NumPy does it. `resampled` is not
// empty.
Interval95 central(std::vector<double> resampled);

struct HierarchicalBootstrap {
  double difference = 0;  // of the scores, arm minus other, mean over the seeds
  Interval95 interval;    // the central 95 % of the resampled differences
  std::vector<double> resampled;
};

// Each resample draws seeds and sentences with replacement. Every seed was scored on the same sentences, so
// one draw of sentences serves all seeds and both arms of a resample (drawing them anew for each seed would
// average their spread away). Throws DataError without seeds or sentences, or where numbers of sentences
// differ.
HierarchicalBootstrap hierarchical_bootstrap(const ScoreSpec& spec, std::span<const SeedPair> seeds,
                                             Index resamples, const Draw& seed_draw,
                                             const Draw& sentence_draw);

}  // namespace attnlab
