// Gradients of inputs and parameters (gates included) against central differences in f64.
#include "attention/properties_compare.h"
#include "core/gradient_check.h"

namespace attnlab {
namespace {

constexpr double kBound = 5e-6;
constexpr Index kElements = 16;  // of each tensor

GradientReport gradients_of(Rig& rig, const Problem& problem) {
  GradientCheck check{[&rig, &problem](Tape&, const std::vector<Var>& in) {
                        return (*rig.attention)(in[0], in.back(), problem.mask);
                      },
                      {problem.query},
                      &rig.parameters};
  if (problem.key) check.inputs.push_back(problem.key);
  check.elements = kElements;
  return check_gradients(check);
}

// "gradient of NAME, element i: numeric x, computed y"; inputs by what they are.
std::string described(const GradientReport& report) {
  std::string where = report.where;
  for (const auto& [number, meaning] : {std::pair{"input 0", "queries"}, std::pair{"input 1", "memory"}})
    if (where.rfind(number, 0) == 0) where.replace(0, std::string(number).size(), meaning);
  return join_text("gradient of ", where, ": numeric ", report.numeric, ", computed ", report.analytic);
}

void test_gradients(const Subject& subject, Verdict& verdict) {
  if (!Rig(subject, {}).has_core()) {
    verdict.not_promised("it computes nothing");
    return;
  }
  for (const Situation& situation : small_situations(subject.promises()))
    for (const double dropout : {0.0, 0.3}) {
      RigPlan plan = situation.plan();
      plan.dropout = dropout;
      Rig rig(subject, plan);
      const Problem problem = draw_problem(rig, Level::whole, situation);
      const std::string where = situation.name + (dropout > 0 ? " with dropout" : "");
      if (!check_finite(verdict, rig, run(rig, problem), where)) continue;
      const GradientReport report = gradients_of(rig, problem);
      verdict.measure(report.worst, kBound, where + ", " + described(report));
    }
}

const Property gradients{"gradients", test_gradients};

}  // namespace
}  // namespace attnlab
