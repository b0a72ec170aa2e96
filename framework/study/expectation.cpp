#include "study/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/statistics.h"

namespace attnlab {
namespace {

// Chance that the mean lies within the band only by luck: the larger of the tests against its limits.
double p_of(std::span<const double> values, const BandSpec& band) {
  double p = 0;
  if (band.at_least) p = std::max(p, t_test_above(values, *band.at_least));
  if (band.at_most) {
    std::vector<double> negated(values.begin(), values.end());
    for (double& value : negated) value = -value;
    p = std::max(p, t_test_above(negated, -*band.at_most));
  }
  return p;
}

std::string figures_of(std::span<const double> values, const BandSpec& band) {
  const std::string expected = "; expected " + band.text();
  if (values.size() == 1) return fmt::format("{:.4g}, a single seed{}", values[0], expected);
  return fmt::format("{:.4g} ± {:.2g} (sd) over {} seeds{}", mean(values), standard_deviation(values),
                     values.size(), expected);
}

// Where all rates that were tried are as good, the best one is at an edge by chance.
bool may_be_better_beyond(const ArmResult& arm) {
  return arm.rate && arm.rate->at_edge && arm.rate->basin_share < 1;
}

// The arm, or the arm it is compared with, whose best rate was at the edge of the grid; empty if there is
// none.
std::string edge_arm(const ExpectationSpec& spec, const StudyResults& results) {
  for (const std::string& name : spec.arms()) {
    const ArmResult* arm = results.find(name);
    if (arm == nullptr) continue;
    if (may_be_better_beyond(*arm)) return name;
    const ArmResult* base = results.find(arm->baseline);
    if (base != nullptr && may_be_better_beyond(*base)) return base->name;
  }
  return "";
}

}  // namespace

void ExpectationSpec::fields(Fields& f) {
  f("note", note, "the claim in words");
  f("metric", metric, "what it is about; empty: the study's metric");
  f("alpha", alpha, between(0, 0.5), "largest p-value that counts as shown");
  own_fields(f);
}

void BandSpec::fields(Fields& f) {
  f("at_least", at_least, "lower limit");
  f("at_most", at_most, "upper limit");
  f("every_seed", every_seed, "must hold for each seed, instead of a t-test of the mean");
  f.check(at_least || at_most, "at_least", "an expectation needs 'at_least', 'at_most' or both");
  f.check(!at_least || !at_most || *at_least <= *at_most, "at_most", "must not be below 'at_least'");
}

std::string BandSpec::text() const {
  if (at_least && at_most) return fmt::format("{:.4g} to {:.4g}", *at_least, *at_most);
  return at_least ? fmt::format("at least {:.4g}", *at_least) : fmt::format("at most {:.4g}", *at_most);
}

bool BandSpec::holds(double value) const {
  return (!at_least || value >= *at_least) && (!at_most || value <= *at_most);
}

Judgement judge_band(std::span<const double> values, const BandSpec& band, double alpha) {
  Judgement judgement;
  judgement.seeds = static_cast<Index>(values.size());
  if (values.empty()) return judgement.figures = "no values", judgement;
  judgement.figures = figures_of(values, band);
  // Known whatever the outcome: which claims are corrected together must not depend on it.
  if (!band.every_seed && vary(values)) judgement.p_value = p_of(values, band);
  if (std::isnan(mean(values))) return judgement;
  if (!band.holds(mean(values))) {
    judgement.decision = Decision::not_reproduced;
    return judgement;
  }
  const auto holding = std::count_if(values.begin(), values.end(), [&](double v) { return band.holds(v); });
  judgement.decision = Decision::reproduced;
  if (band.every_seed) {
    judgement.figures += fmt::format(" in every seed, held in {}", holding);
    if (holding < std::ssize(values)) judgement.decision = Decision::undecidable;
  } else if (judgement.p_value > alpha) {
    judgement.decision = Decision::undecidable;
  }
  return judgement;
}

std::vector<ClaimVerdict> judge(const std::vector<Claim>& claims, const StudyResults& results, bool final) {
  std::vector<ClaimVerdict> verdicts;
  for (const Claim& claim : claims) {
    if (claim.spec->costly() && !final) continue;
    const std::string& metric = claim.spec->metric.empty() ? results.metric : claim.spec->metric;
    const Judgement judgement = claim.spec->judge(results, metric);
    ClaimVerdict verdict;
    verdict.claim = claim.name;
    verdict.note = claim.spec->note;
    verdict.kind = Registry<ExpectationSpec>::name_of(*claim.spec);
    verdict.metric = metric;
    verdict.decision = judgement.decision;
    verdict.figures = judgement.seeds > 0 ? judgement.figures : "no values of " + metric;
    verdict.p_value = judgement.p_value;
    verdict.alpha = claim.spec->alpha;
    verdict.seeds = judgement.seeds;
    verdict.hash = claim.hash;
    if (const std::string arm = edge_arm(*claim.spec, results); !arm.empty()) {
      verdict.decision = Decision::undecidable;
      verdict.figures += "; the best rate of '" + arm + "' is at the edge of those tried";
    }
    verdicts.push_back(std::move(verdict));
  }
  std::vector<ClaimVerdict*> all;
  for (ClaimVerdict& verdict : verdicts) all.push_back(&verdict);
  correct_together(all);
  return verdicts;
}

void correct_together(const std::vector<ClaimVerdict*>& verdicts) {
  std::vector<ClaimVerdict*> tested;
  std::vector<double> p_values;
  for (ClaimVerdict* verdict : verdicts) {
    if (std::isnan(verdict->p_value)) continue;
    tested.push_back(verdict);
    p_values.push_back(verdict->p_value);
  }
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i]->corrected_p = corrected[i];
    if (tested[i]->decision == Decision::reproduced && corrected[i] > tested[i]->alpha)
      tested[i]->decision = Decision::undecidable;
  }
}

}  // namespace attnlab
