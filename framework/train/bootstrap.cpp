#include "train/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace attnlab {
namespace {

using Segments = std::vector<SegmentStatistics>;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> resampled_scores(const ScoreSpec& spec, const Segments& segments, Index resamples,
                                     const Draw& draw) {
  if (segments.empty()) throw DataError("bootstrap: no segments");
  if (resamples < 1) throw DataError("bootstrap: at least one resample is needed");
  std::vector<double> scores;
  for (Index resample = 0; resample < resamples; ++resample) {
    SegmentStatistics sum(segments.front().size());
    for (std::size_t place = 0; place < segments.size(); ++place) {
      const auto& drawn = segments[static_cast<std::size_t>(draw(resample, static_cast<Index>(place)))];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += drawn[i];
    }
    scores.push_back(spec.score(sum, 1).value);
  }
  return scores;
}

BootstrapResult summary(const ScoreSpec& spec, const Segments& segments, std::vector<double> scores) {
  BootstrapResult result;
  result.score = spec.score(sum_of(segments), 1).value;
  std::sort(scores.begin(), scores.end());
  const std::size_t tail = scores.size() / 40;
  result.mean = mean_of(scores);
  result.interval = (scores[scores.size() - 1 - tail] - scores[tail]) / 2;
  return result;
}

}  // namespace

Draw seeded_draw(std::uint64_t seed, Index segments) {
  const std::uint64_t stream = stream_name("bootstrap");
  return [seed, segments, stream](Index resample, Index place) {
    const Random random(seed, stream, static_cast<std::uint64_t>(resample));
    return static_cast<Index>(
        random.below(static_cast<std::uint64_t>(place), static_cast<std::uint64_t>(segments)));
  };
}

BootstrapResult bootstrap(const ScoreSpec& spec, const Segments& segments, const BootstrapOptions& options) {
  const Draw draw = seeded_draw(options.seed, static_cast<Index>(segments.size()));
  return summary(spec, segments, resampled_scores(spec, segments, options.resamples, draw));
}

PairedBootstrap paired_bootstrap(const ScoreSpec& spec, const Segments& baseline, const Segments& system,
                                 Index resamples, const Draw& draw) {
  if (baseline.size() != system.size()) {
    throw DataError(join_text("paired bootstrap: the baseline has ", baseline.size(),
                              " segments, the system ", system.size()));
  }
  const std::vector<double> a = resampled_scores(spec, baseline, resamples, draw);
  const std::vector<double> b = resampled_scores(spec, system, resamples, draw);
  PairedBootstrap result{summary(spec, baseline, a), summary(spec, system, b)};
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(std::abs(b[i] - a[i]));
  const double mean = mean_of(differences);
  const double seen = std::abs(result.baseline.score - result.system.score);
  const auto beyond = std::count_if(differences.begin(), differences.end(),
                                    [mean, seen](double d) { return d - mean > seen; });
  const bool never_differ =
      std::all_of(differences.begin(), differences.end(), [](double d) { return d == 0; });
  result.p_value = never_differ ? 1 : static_cast<double>(beyond + 1) / static_cast<double>(resamples + 1);
  return result;
}

PairedBootstrap paired_bootstrap(const ScoreSpec& spec, const Segments& baseline, const Segments& system,
                                 const BootstrapOptions& options) {
  return paired_bootstrap(spec, baseline, system, options.resamples,
                          seeded_draw(options.seed, static_cast<Index>(baseline.size())));
}

}  // namespace attnlab
