#include "study/hierarchical.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace attnlab {
namespace {

// Linear interpolation between order statistics, as NumPy does it.
double quantile(const std::vector<double>& sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

double score_of(const ScoreSpec& spec, const std::vector<SegmentStatistics>& segments,
                const std::vector<std::size_t>& chosen) {
  SegmentStatistics sum(segments[0].size(), 0);
  for (const std::size_t i : chosen)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += segments[i][k];
  return spec.score(sum, 1).value;
}

Interval95 central(std::vector<double> resampled) {
  std::sort(resampled.begin(), resampled.end());
  return {quantile(resampled, 0.025), quantile(resampled, 0.975)};
}

HierarchicalBootstrap hierarchical_bootstrap(const ScoreSpec& spec, std::span<const SeedPair> seeds,
                                             Index resamples, const Draw& seed_draw,
                                             const Draw& sentence_draw) {
  if (seeds.empty() || seeds[0].arm.empty() || resamples < 1)
    throw DataError("a bootstrap needs seeds, sentences and resamples");
  const std::size_t sentences = seeds[0].arm.size();
  for (const SeedPair& pair : seeds)
    if (pair.arm.size() != sentences || pair.other.size() != sentences)
      throw DataError("a bootstrap needs the same sentences for every seed and both arms");
  std::vector<std::size_t> chosen(sentences);
  const auto differences = [&] {
    std::vector<double> result;
    for (const SeedPair& pair : seeds)
      result.push_back(score_of(spec, pair.arm, chosen) - score_of(spec, pair.other, chosen));
    return result;
  };
  for (std::size_t i = 0; i < sentences; ++i) chosen[i] = i;
  HierarchicalBootstrap result;
  result.difference = mean(differences());
  for (Index resample = 0; resample < resamples; ++resample) {
    for (std::size_t i = 0; i < sentences; ++i)
      chosen[i] = static_cast<std::size_t>(sentence_draw(resample, static_cast<Index>(i)));
    const std::vector<double> by_seed = differences();
    double sum = 0;
    for (std::size_t i = 0; i < seeds.size(); ++i)
      sum += by_seed[static_cast<std::size_t>(seed_draw(resample, static_cast<Index>(i)))];
    result.resampled.push_back(sum / static_cast<double>(seeds.size()));
  }
  result.interval = central(result.resampled);
  return result;
}

}  // namespace attnlab
