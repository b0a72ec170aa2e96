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
