// Gradients of inputs and parameters (gates included) against central differences in f64.
#include "attention/properties_problem.h"
#include "attention/properties_table.h"
#include "core/gradient_check.h"

namespace attnlab {
namespace {

GradientReport gradients_of(const Subject& subject, const Situation& situation, double dropout) {
  RigPlan plan = situation.plan();
  plan.dropout = dropout;
  Rig rig(subject, plan);
  const Problem problem = draw_problem(rig, Level::whole, situation);
  GradientCheck check{[&rig, &problem](Tape&, const std::vector<Var>& in) {
                        return (*rig.attention)(in[0], in.back(), problem.mask);
                      },
                      {problem.query},
                      &rig.parameters};
  if (problem.key) check.inputs.push_back(problem.key);
  check.elements = 16;
  return check_gradients(check);
}

void test_gradients(const Subject& subject, Verdict& verdict) {
  if (!Rig(subject, {}).has_core()) {
    verdict.not_promised("it computes nothing");
    return;
  }
  for (const Situation& situation : small_situations(subject.promises()))
    for (const double dropout : {0.0, 0.3}) {
      const GradientReport report = gradients_of(subject, situation, dropout);
      verdict.measure(report.worst, 5e-6,
                      situation.name + (dropout > 0 ? " with dropout, " : ", ") + report.where);
    }
}

const Property gradients{"gradients", test_gradients};

}  // namespace
}  // namespace attnlab
