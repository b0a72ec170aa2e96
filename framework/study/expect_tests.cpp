// Expectations about the order and the likeness of arms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/expectation.h"
#include "study/paired_arms.h"
#include "study/statistics.h"

namespace attnlab {
namespace {

struct OrderExpectation final : ExpectationSpec {
  std::vector<std::string> order;
  void own_fields(Fields& f) override {
    f("arms", order, "from the smallest value of the metric to the largest");
    f.check(order.size() >= 2, "arms", "an order needs two arms or more");
  }
  std::vector<std::string> arms() const override { return order; }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<const ArmResult*> arms;
    for (const std::string& name : order) arms.push_back(results.find(name));
    const auto joint = joint_values(arms, on);  // of the seeds that all of them have
    Judgement judgement;
    judgement.seeds = std::ssize(joint);
    Index held = 0;
    std::vector<double> means(order.size(), 0);
    for (const auto& [seed, values] : joint) {
      held += std::is_sorted(values.begin(), values.end(), std::less_equal<>()) ? 1 : 0;
      for (std::size_t i = 0; i < means.size(); ++i)
        means[i] += values[i] / static_cast<double>(joint.size());
    }
    for (std::size_t i = 0; i < means.size(); ++i)
      judgement.figures +=
          fmt::format("{}{} {:.4g}", judgement.figures.empty() ? "" : " < ", order[i], means[i]);
    judgement.figures =
        fmt::format("expected {}; in this order in {} of {} seeds", judgement.figures, held, judgement.seeds);
    if (judgement.seeds == 0) return judgement;
    // Chance of the order in so many seeds if all orders were as likely.
    judgement.p_value =
        binomial_tail(held, judgement.seeds, 1 / std::tgamma(static_cast<double>(order.size()) + 1));
    judgement.figures += fmt::format(", p = {:.3g}", judgement.p_value);
    if (!std::is_sorted(means.begin(), means.end(), std::less_equal<>()))
      judgement.decision = Decision::not_reproduced;
    else if (judgement.p_value <= alpha)
      judgement.decision = Decision::reproduced;
    return judgement;
  }
};

struct SignTestExpectation final : ExpectationSpec {
  PairedArms pair;
  bool above = true;
  void own_fields(Fields& f) override {
    pair.fields(f, "has other values than");
    f.choice("direction", above, {{"above", true}, {"below", false}}, "on which side");
  }
  std::vector<std::string> arms() const override { return pair.names(); }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    std::vector<double> differences = pair.differences(results, on);
    if (!above)
      for (double& difference : differences) difference = -difference;
    Judgement judgement;
    judgement.seeds = std::ssize(differences);
    if (differences.empty()) return judgement.figures = "no values", judgement;
    const auto right = std::count_if(differences.begin(), differences.end(), [](double d) { return d > 0; });
    judgement.p_value = sign_test(differences);
    judgement.figures = fmt::format("{} in {} of {} seeds, sign test p = {:.3g}", above ? "above" : "below",
                                    right, judgement.seeds, judgement.p_value);
    const double smallest = std::pow(0.5, static_cast<double>(judgement.seeds));
    if (smallest > alpha)
      judgement.figures += fmt::format("; {} seeds cannot give less than {:.3g}", judgement.seeds, smallest);
    // Too few on the right side to tell them from chance is no evidence against it.
    if (judgement.p_value <= alpha)
      judgement.decision = Decision::reproduced;
    else if (smallest <= alpha && 2 * right <= judgement.seeds)
      judgement.decision = Decision::not_reproduced;
    return judgement;
  }
};

struct EquivalenceExpectation final : ExpectationSpec {
  PairedArms pair;
  double margin = 0;
  void own_fields(Fields& f) override {
    pair.fields(f, "is as good as");
    f("margin", margin, above(0), "differences smaller than this count as none");
    f.check(margin > 0, "margin", "needs a margin above 0");
  }
  std::vector<std::string> arms() const override { return pair.names(); }
  Judgement judge(const StudyResults& results, const std::string& on) const override {
    const std::vector<double> differences = pair.differences(results, on);
    Judgement judgement;
    judgement.seeds = std::ssize(differences);
    if (differences.empty()) return judgement.figures = "no values", judgement;
    judgement.figures = fmt::format("difference {:.3g} over {} seeds, margin ±{:.3g}", mean(differences),
                                    judgement.seeds, margin);
    if (vary(differences)) {
      judgement.p_value = equivalence_test(differences, margin);
      judgement.figures += fmt::format(", p = {:.3g}", judgement.p_value);
    }
    const bool same_in_all = judgement.seeds > 1 && !vary(differences);  // one seed shows no likeness
    if (std::abs(mean(differences)) > margin)
      judgement.decision = Decision::not_reproduced;
    else if (judgement.p_value <= alpha || same_in_all)
      judgement.decision = Decision::reproduced;
    return judgement;
  }
};

const Registered<ExpectationSpec, OrderExpectation> order_registered{
    "order", "arms in the order of their values, more often than chance"};
const Registered<ExpectationSpec, SignTestExpectation> sign_registered{
    "sign_test", "one arm above or below another, by the signs of the seeds"};
const Registered<ExpectationSpec, EquivalenceExpectation> equivalence_registered{
    "equivalence", "no difference larger than a margin, by two one-sided t-tests"};

}  // namespace
}  // namespace attnlab
