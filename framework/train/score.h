// What all scores of generated text share: the result with its signature, statistics of segments, and the
// registry of scores. A score adds up statistics over the segments of a corpus, so that resampling the
// segments is cheap (see bootstrap.h). Higher is better for every score here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "core/dtype.h"

namespace attnlab {

using Lines = std::vector<std::string>;

// Statistics of one segment; those of a corpus are their sum.
using SegmentStatistics = std::vector<double>;

struct Score {
  std::string name;  // "BLEU", "chrF2"
  double value = 0;
  std::string details;    // "65.5/40.0/28.6/20.0 (BP = 1.000 ratio = …)"; may be empty
  std::string signature;  // "nrefs:1|case:mixed|…"; all that the value depends on
};

// A registered score with its options. `references` is one list of lines for each set of references.
struct ScoreSpec {
  static constexpr const char* kRegistry = "score";
  virtual ~ScoreSpec() = default;
  virtual void fields(Fields& f) = 0;
  // Statistics of line i. Throws DataError for invalid UTF-8.
  virtual SegmentStatistics segment(std::size_t i, const Lines& hypotheses,
                                    const std::vector<Lines>& references) const = 0;
  // The score of summed statistics. `reference_sets` goes into the signature.
  virtual Score score(const SegmentStatistics& sum, std::size_t reference_sets) const = 0;

  // One entry a line. Throws DataError where numbers of lines differ, where there is no reference, and for
  // invalid UTF-8.
  std::vector<SegmentStatistics> statistics(const Lines& hypotheses,
                                            const std::vector<Lines>& references) const;
  // The score of a corpus.
  Score corpus_score(const Lines& hypotheses, const std::vector<Lines>& references) const;
};

SegmentStatistics sum_of(const std::vector<SegmentStatistics>& segments);

// The corpus score of a registered kind with its default options, such as "bleu" or "chrf". Throws
// ConfigError for an unknown name.
Score corpus_score(const std::string& kind, const Lines& hypotheses, const Lines& references);

// The end of every signature.
std::string score_version();
// "nrefs:1|PARTS|version:…": the signature of a score; PARTS, such as "case:mixed|eff:no", may be empty.
std::string score_signature(std::size_t reference_sets, const std::string& parts = "");

}  // namespace attnlab
