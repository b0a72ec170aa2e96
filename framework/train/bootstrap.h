// Bootstrap resampling of the segments of a test set (Koehn 2004), as sacreBLEU does it: how far a score may
// move with the choice of sentences, and whether two systems differ. Uses the same draws for both.
#pragma once

#include <cstdint>
#include <functional>

#include "train/score.h"

namespace attnlab {

struct BootstrapOptions {
  Index resamples = 1000;
  std::uint64_t seed = 12345;
};

struct BootstrapResult {
  double score = 0;     // of the test set itself
  double mean = 0;      // of the resampled scores
  double interval = 0;  // half the width of the central 95 %
};

struct PairedBootstrap {
  BootstrapResult baseline, system;
  // Chance of a difference at least as large if both were the same process: (c + 1) / (resamples + 1), c
  // counting resamples whose absolute difference exceeds the mean one by more than the true difference.
  // Unlike in sacreBLEU, which then says 1 / (resamples + 1), it is 1 where no resample differs at all.
  double p_value = 1;
};

// The segment drawn at `place` of a resample, in [0, segments).
using Draw = std::function<Index(Index resample, Index place)>;

// A pure function of (seed, resample, place).
Draw seeded_draw(std::uint64_t seed, Index segments);

// Throws DataError without segments.
BootstrapResult bootstrap(const ScoreSpec& spec, const std::vector<SegmentStatistics>& segments,
                          const BootstrapOptions& options);

// Throws DataError unless both have the same segments.
PairedBootstrap paired_bootstrap(const ScoreSpec& spec, const std::vector<SegmentStatistics>& baseline,
                                 const std::vector<SegmentStatistics>& system,
                                 const BootstrapOptions& options);
// The same with draws of one's own.
PairedBootstrap paired_bootstrap(const ScoreSpec& spec, const std::vector<SegmentStatistics>& baseline,
                                 const std::vector<SegmentStatistics>& system, Index resamples,
                                 const Draw& draw);

}  // namespace attnlab
