// Expectations about one number for each seed: a value, a difference, a factor, a slope.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/expectation.h"
#include "study/paired_arms.h"
#include "study/statistics.h"

namespace attnlab {
namespace {

struct BandExpectation final : ExpectationSpec {
  std::string arm;
  BandSpec band;
  void own_fields(Fields& f) override {
    f("arm", arm, "whose values must lie within the limits");
    f.check(!arm.empty(), "arm", "needs the name of an arm");
    band.fields(f);
  }
  std::vector<std::string> arms() const override { return {arm}; }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<double> values;
    for (const auto& [seed, value] : results.find(arm)->values(on)) values.push_back(value);
    return judge_band(values, band, alpha);
  }
};

struct DifferenceExpectation final : ExpectationSpec {
  PairedArms pair;
  BandSpec band;
  void own_fields(Fields& f) override {
    pair.fields(f, "minus");
    band.fields(f);
  }
  std::vector<std::string> arms() const override { return pair.names(); }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    return judge_band(pair.differences(results, on), band, alpha);
  }
};

struct FactorExpectation final : ExpectationSpec {
  PairedArms pair;
  BandSpec band;
  void own_fields(Fields& f) override {
    pair.fields(f, "divided by");
    band.fields(f);
  }
  std::vector<std::string> arms() const override { return pair.names(); }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<double> factors;
    for (const auto& [value, other] : pair.values(results, on))
      if (other != 0) factors.push_back(value / other);
    return judge_band(factors, band, alpha);
  }
};

// Of ln metric against ln of the arms' value on an axis.
struct SlopeExpectation final : ExpectationSpec {
  std::vector<std::string> points;
  std::string over;
  BandSpec band;
  void own_fields(Fields& f) override {
    f("arms", points, "points of the curve");
    f("over", over, "key of the axis, such as model.layers");
    band.fields(f);
    f.check(points.size() >= 2, "arms", "a slope needs two arms or more");
    f.check(!over.empty(), "over", "needs the key of an axis");
  }
  std::vector<std::string> arms() const override { return points; }
  std::vector<std::string> axes() const override { return {over}; }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<const ArmResult*> arms;
    std::vector<double> x;
    for (const std::string& name : points) {
      arms.push_back(results.find(name));
      for (const auto& [key, text] : arms.back()->point)
        if (key == over) x.push_back(std::atof(text.c_str()));
    }
    if (x.size() != points.size()) return {};  // a control, which lies on no axis
    std::vector<double> slopes;
    Index without = 0;
    for (const auto& [seed, y] : joint_values(arms, on)) {
      const double slope = log_log_slope(x, y);
      std::isnan(slope) ? void(++without) : slopes.push_back(slope);
    }
    Judgement judgement = judge_band(slopes, band, alpha);
    if (without > 0) {
      judgement.figures += fmt::format("; {} seeds have no slope: a value is not above 0", without);
      judgement.seeds = std::max<Index>(judgement.seeds, 1);  // the figures say something
    }
    return judgement;
  }
};

const Registered<ExpectationSpec, BandExpectation> band_registered{"band",
                                                                   "an arm's value lies within limits"};
const Registered<ExpectationSpec, DifferenceExpectation> difference_registered{
    "difference", "the paired difference of two arms lies within limits"};
const Registered<ExpectationSpec, FactorExpectation> factor_registered{
    "factor", "the quotient of two arms lies within limits"};
const Registered<ExpectationSpec, SlopeExpectation> slope_registered{
    "slope", "the log-log slope over an axis lies within limits"};

}  // namespace
}  // namespace attnlab
