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
  // Per segment: right labels (by any set of references, the best one), labels.
  std::vector<SegmentStatistics> statistics(const Lines& hypotheses,
                                            const std::vector<Lines>& references) const override {
    check_line_counts(hypotheses, references);
    std::vector<SegmentStatistics> segments;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
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
      segments.push_back({static_cast<double>(most), static_cast<double>(count)});
    }
    return segments;
  }
  Score score(const SegmentStatistics& sum, std::size_t reference_sets) const override {
    return {"accuracy",
            sum[1] > 0 ? sum[0] / sum[1] : 0,
            {},
            "nrefs:" + std::to_string(reference_sets) + "|version:" + score_version()};
  }
};

const Registered<ScoreSpec, AccuracySpec> registered{"accuracy", "share of labels that are right"};

}  // namespace
}  // namespace attnlab
