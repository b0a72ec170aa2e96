// chrF (Popovic 2015) and chrF++ (Popovic 2017) of a corpus, equal to sacreBLEU's.
#pragma once

#include "train/score.h"

namespace attnlab {

struct ChrfSpec : ScoreSpec {
  Index char_order = 6;
  Index word_order = 0;  // 2 is chrF++
  Index beta = 2;        // weight of recall
  bool lowercase = false;
  bool whitespace = false;  // spaces count as characters

  void fields(Fields& f) override;
  // For each character order, then each word order: n-grams, reference n-grams, matches; of the reference
  // that scores best.
  SegmentStatistics segment(std::size_t i, const Lines& hypotheses,
                            const std::vector<Lines>& references) const override;
  Score score(const SegmentStatistics& sum, std::size_t reference_sets) const override;
  std::string signature(std::size_t reference_sets) const;
};

}  // namespace attnlab
