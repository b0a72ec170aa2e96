#include "study/sweep.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace attnlab {

RateChoice choose_rate(std::span<const double> rates, std::span<const double> scores, bool higher,
                       double within) {
  check(rates.size() == scores.size() && !rates.empty(), "one score for each rate");
  RateChoice choice;
  choice.rates.assign(rates.begin(), rates.end());
  choice.scores.assign(scores.begin(), scores.end());
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]) && (!best || (higher ? scores[i] > scores[*best] : scores[i] < scores[*best])))
      best = i;
  if (!best) return choice;
  choice.chosen = rates[*best];
  const auto [lowest, highest] = std::minmax_element(rates.begin(), rates.end());
  choice.at_edge = rates.size() > 1 && (choice.chosen == *lowest || choice.chosen == *highest);
  const double reach = within > 0 ? within : 0.01 * std::abs(scores[*best]);
  const auto good = std::count_if(scores.begin(), scores.end(), [&](double score) {
    return !std::isnan(score) && std::abs(score - scores[*best]) <= reach;
  });
  choice.basin_share = static_cast<double>(good) / static_cast<double>(scores.size());
  return choice;
}

}  // namespace attnlab
