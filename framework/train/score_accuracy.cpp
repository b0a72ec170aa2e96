// The share of labels that are right, where a line holds the labels of one example with spaces between them.
#include <algorithm>

#include "config/registry.h"
#include "core/error.h"
#include "data/unicode.h"
#include "train/score.h"

namespace attnlab {
namespace {

struct AccuracySpec final : ScoreSpec {
  void fields(Fields&) override {}
  // Right labels (by any set of references, the best one), labels.
  SegmentStatistics segment(std::size_t i, const Lines& hypotheses,
                            const std::vector<Lines>& references) const override {
    const auto said = split_at_spaces(hypotheses[i]);
    std::size_t most = 0, count = 0;
    for (const Lines& lines : references) {
      const auto wanted = split_at_spaces(lines[i]);
      if (wanted.size() != said.size())
        throw DataError(join_text("accuracy: line ", i + 1, " has ", said.size(), " labels, its reference ",
                                  wanted.size()));
      std::size_t right = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) right += wanted[k] == said[k] ? 1 : 0;
      most = std::max(most, right);
      count = wanted.size();
    }
    return {static_cast<double>(most), static_cast<double>(count)};
  }
  Score score(const SegmentStatistics& sum, std::size_t reference_sets) const override {
    return {"accuracy", sum[1] > 0 ? sum[0] / sum[1] : 0, {}, score_signature(reference_sets)};
  }
};

const Registered<ScoreSpec, AccuracySpec> registered{"accuracy", "share of labels that are right"};

}  // namespace
}  // namespace attnlab
