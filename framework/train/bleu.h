// BLEU (Papineni et al. 2002) of a corpus, equal to sacreBLEU's: same tokenizations, clipping over several
// references, closest reference length, smoothing and brevity penalty.
#pragma once

#include <optional>

#include "train/bleu_tokens.h"
#include "train/score.h"

namespace attnlab {

enum class BleuSmoothing { exp, floor, add_k, none };

struct BleuSpec final : ScoreSpec {
  BleuTokens tokenize = BleuTokens::thirteen_a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smooth_value;  // unset: 0.1 for floor, 1 for add_k
  bool effective_order = false;        // for single sentences: leave out orders that are too long for them

  void fields(Fields& f) override;
  // Length, closest reference length, matches of order 1 to 4, n-grams of order 1 to 4.
  SegmentStatistics segment(std::size_t i, const Lines& hypotheses,
                            const std::vector<Lines>& references) const override;
  Score score(const SegmentStatistics& sum, std::size_t reference_sets) const override;
  std::string signature(std::size_t reference_sets) const;
};

}  // namespace attnlab
