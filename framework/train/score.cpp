#include "train/score.h"

#include "config/registry.h"
#include "core/error.h"

namespace attnlab {
namespace {

// Throws DataError unless every set of references has as many lines as there are hypotheses.
void check_line_counts(const Lines& hypotheses, const std::vector<Lines>& references) {
  if (references.empty()) throw DataError("score: no references");
  if (hypotheses.empty()) throw DataError("score: no lines to score");
  for (const Lines& lines : references) {
    if (lines.size() == hypotheses.size()) continue;
    throw DataError(
        join_text("score: ", hypotheses.size(), " lines to score, but ", lines.size(), " reference lines"));
  }
}

}  // namespace

SegmentStatistics sum_of(const std::vector<SegmentStatistics>& segments) {
  SegmentStatistics sum(segments.empty() ? 0 : segments.front().size());
  for (const SegmentStatistics& segment : segments) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += segment[i];
  }
  return sum;
}

std::vector<SegmentStatistics> ScoreSpec::statistics(const Lines& hypotheses,
                                                     const std::vector<Lines>& references) const {
  check_line_counts(hypotheses, references);
  std::vector<SegmentStatistics> segments;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) segments.push_back(segment(i, hypotheses, references));
  return segments;
}

Score ScoreSpec::corpus_score(const Lines& hypotheses, const std::vector<Lines>& references) const {
  return score(sum_of(statistics(hypotheses, references)), references.size());
}

Score corpus_score(const std::string& kind, const Lines& hypotheses, const Lines& references) {
  return Registry<ScoreSpec>::make(kind)->corpus_score(hypotheses, {references});
}

std::string score_version() { return std::string("attnlab-") + ATTNLAB_VERSION; }

std::string score_signature(std::size_t reference_sets, const std::string& parts) {
  return join_text("nrefs:", reference_sets, parts.empty() ? "" : "|", parts, "|version:", score_version());
}

}  // namespace attnlab
