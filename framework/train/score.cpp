#include "train/score.h"

#include "config/registry.h"
#include "core/error.h"

namespace attnlab {

SegmentStatistics sum_of(const std::vector<SegmentStatistics>& segments) {
  SegmentStatistics sum(segments.empty() ? 0 : segments.front().size());
  for (const SegmentStatistics& segment : segments) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += segment[i];
  }
  return sum;
}

void check_line_counts(const Lines& hypotheses, const std::vector<Lines>& references) {
  if (references.empty()) throw DataError("score: no references");
  if (hypotheses.empty()) throw DataError("score: no lines to score");
  for (const Lines& lines : references) {
    if (lines.size() == hypotheses.size()) continue;
    throw DataError(
        join_text("score: ", hypotheses.size(), " lines to score, but ", lines.size(), " reference lines"));
  }
}

Score ScoreSpec::corpus_score(const Lines& hypotheses, const std::vector<Lines>& references) const {
  return score(sum_of(statistics(hypotheses, references)), references.size());
}

Score corpus_score(const std::string& kind, const Lines& hypotheses, const Lines& references) {
  return Registry<ScoreSpec>::make(kind)->corpus_score(hypotheses, {references});
}

std::string score_version() { return std::string("attnlab-") + ATTNLAB_VERSION; }

}  // namespace attnlab
