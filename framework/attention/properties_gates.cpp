// A head whose gate is zero is a head that is not there; the gate's gradient is right.
#include <cmath>

#include "attention/properties_compare.h"

namespace attnlab {
namespace {

void set_gates(const Rig& rig, Index closed) {
  double* gates = rig.attention->gates()->value().data<double>();
  for (Index h = 0; h < rig.shape().H; ++h) gates[h] = h == closed ? 0 : 0.5 + 0.2 * static_cast<double>(h);
}

// Zero weights of the output projection for one head's columns.
void remove_head(const Rig& rig, Index h) {
  Parameter* weight = rig.parameters.find(rig.attention->path() + ".output.weight");
  check(weight != nullptr, "no parameter ", rig.attention->path(), ".output.weight");
  weight->value().column_view(h * rig.shape().V, rig.shape().V).fill(0);
}

double loss(Rig& rig, const Problem& problem) {
  const auto y = evaluate(rig, problem).to_doubles(), weights = problem.d_output.to_doubles();
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
  return sum;
}

void check_gate_gradients(Rig& rig, const Problem& problem, Verdict& verdict, const std::string& where) {
  Parameter& gates = *rig.attention->gates();
  run(rig, problem);
  const Tensor analytic = gates.gradient().clone();
  const Tensor numeric(gates.shape(), DType::f64);
  constexpr double kStep = 1e-5;
  for (Index h = 0; h < rig.shape().H; ++h) {
    double& gate = gates.value().data<double>()[h];
    const double kept = gate;
    gate = kept + kStep;
    const double above = loss(rig, problem);
    gate = kept - kStep;
    numeric.data<double>()[h] = (above - loss(rig, problem)) / (2 * kStep);
    gate = kept;
  }
  compare(verdict, analytic, numeric, 1e-7, where + ", gradient of the gates");
}

void test_head_gates(const Subject& subject, Verdict& verdict) {
  for (const Situation& situation : small_situations({.causal = false, .intervals = false})) {
    Rig gated(subject, {});
    if (gated.attention->gates() == nullptr) return verdict.not_promised("it has no heads");
    const Problem problem = draw_problem(gated, Level::whole, situation);
    for (Index h = 0; h < gated.shape().H; ++h) {
      Rig removed(subject, {});
      set_gates(gated, h);
      set_gates(removed, -1);
      remove_head(removed, h);
      compare(verdict, evaluate(gated, problem), evaluate(removed, problem), 1e-12,
              situation.name + ", head " + std::to_string(h));
    }
    set_gates(gated, -1);
    check_gate_gradients(gated, problem, verdict, situation.name);
  }
}

const Property head_gates{"head gates", test_head_gates};

}  // namespace
}  // namespace attnlab
