// Expectations about one number for each seed: a value, a difference, a factor, a slope.
#include <fmt/format.h>

#include "study/expectation.h"
#include "study/statistics.h"

namespace attnlab {
namespace {

// The arm to compare with: the one named, else the baseline of the first.
const ArmResult* other_of(const StudyResults& results, const ArmResult& arm, const std::string& named) {
  return results.find(named.empty() ? arm.baseline : named);
}

struct BandExpectation final : ExpectationSpec {
  std::string arm;
  BandSpec band;
  void own_fields(Fields& f) override {
    f("arm", arm, "whose values must lie within the limits");
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
  std::string arm, to;
  BandSpec band;
  void own_fields(Fields& f) override {
    f("arm", arm, "minus");
    f("to", to, "this one, seed by seed; empty: the baseline");
    band.fields(f);
  }
  std::vector<std::string> arms() const override {
    return to.empty() ? std::vector<std::string>{arm} : std::vector<std::string>{arm, to};
  }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    const ArmResult& one = *results.find(arm);
    const ArmResult* other = other_of(results, one, to);
    return judge_band(other ? compare(one, *other, on).differences : std::vector<double>{}, band, alpha);
  }
};

struct FactorExpectation final : ExpectationSpec {
  std::string arm, to;
  BandSpec band;
  void own_fields(Fields& f) override {
    f("arm", arm, "divided by");
    f("to", to, "this one, seed by seed; empty: the baseline");
    band.fields(f);
  }
  std::vector<std::string> arms() const override {
    return to.empty() ? std::vector<std::string>{arm} : std::vector<std::string>{arm, to};
  }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    const ArmResult& one = *results.find(arm);
    const ArmResult* other = other_of(results, one, to);
    std::vector<double> factors;
    if (other != nullptr) {
      const auto theirs = other->values(on);
      for (const auto& [seed, value] : one.values(on))
        if (const auto pair = theirs.find(seed); pair != theirs.end() && pair->second != 0)
          factors.push_back(value / pair->second);
    }
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
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<double> slopes;
    for (const std::int64_t seed : results.seeds) {
      std::vector<double> x, y;
      for (const std::string& name : points) {
        const ArmResult& arm = *results.find(name);
        const auto values = arm.values(on);
        const auto value = values.find(seed);
        for (const auto& [key, text] : arm.point)
          if (key == over && value != values.end())
            x.push_back(std::atof(text.c_str())), y.push_back(value->second);
      }
      if (x.size() == points.size()) slopes.push_back(log_log_slope(x, y));
    }
    return judge_band(slopes, band, alpha);
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
