// How far the scores of a study's arms, and their differences from the baseline, may move with the choice of
// seeds and sentences: a hierarchical bootstrap, for what runs wrote for a test set.
#pragma once

#include <optional>

#include "study/results.h"
#include "study/statistics.h"
#include "train/score.h"

namespace attnlab {

// What one arm wrote: for each seed, statistics of every sentence.
struct ScoredArm {
  std::string name, baseline;
  std::map<std::int64_t, std::vector<SegmentStatistics>> seeds;
  std::map<std::int64_t, std::string> precisions = {};  // in which it was computed, where that is known
};

struct ScoreInterval {
  std::string arm;
  Interval95 score;                      // of the mean over seeds
  std::optional<Interval95> difference;  // from the baseline, over the seeds that both have
  Index seeds = 0, sentences = 0;
};

// Each resample draws seeds and sentences with replacement; one draw of sentences serves all arms and seeds.
// Intervals of differences are those of hierarchical_bootstrap with the same draws. Throws DataError where
// numbers of sentences differ, or there are none.
std::vector<ScoreInterval> score_intervals(const ScoreSpec& spec, const std::vector<ScoredArm>& arms,
                                           Index resamples, std::uint64_t draw_seed);

// The same for the study's metric, from outputs/TEST.txt of its runs, 1,000 resamples. Arms of which nothing
// was kept, or whose data are others than the baseline's, are left out; all are where the metric is no score
// of a test set. Throws as loading the task does.
std::vector<ScoreInterval> score_intervals(const StudyResults& results,
                                           const std::vector<std::string>& assignments);

}  // namespace attnlab
