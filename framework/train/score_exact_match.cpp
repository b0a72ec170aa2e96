// The share of lines that equal their reference (any of them), spaces at the end aside. In [0, 1].
#include "config/registry.h"
#include "train/score.h"

namespace attnlab {
namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view{} : line.substr(0, last + 1);
}

struct ExactMatchSpec final : ScoreSpec {
  void fields(Fields&) override {}
  // Match, one.
  SegmentStatistics segment(std::size_t i, const Lines& hypotheses,
                            const std::vector<Lines>& references) const override {
    bool match = false;
    for (const Lines& lines : references) match |= trimmed(lines[i]) == trimmed(hypotheses[i]);
    return {match ? 1.0 : 0.0, 1.0};
  }
  Score score(const SegmentStatistics& sum, std::size_t reference_sets) const override {
    return {"exact_match", sum[0] / sum[1], {}, score_signature(reference_sets)};
  }
};

const Registered<ScoreSpec, ExactMatchSpec> registered{"exact_match",
                                                       "share of lines that equal their reference"};

}  // namespace
}  // namespace attnlab
