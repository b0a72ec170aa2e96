// Dropout of the weights, where it is promised: on in training and off outside, and drawn by a row's number
// in the accumulation window, so that splitting a batch changes nothing. Where it is not, the rate changes
// nothing.
#include "attention/properties_compare.h"

namespace attnlab {
namespace {

constexpr double kRate = 0.4;

RigPlan plan_with(const Situation& situation, double dropout) {
  RigPlan plan = situation.plan();
  plan.dropout = dropout;
  return plan;
}

// The same attention with dropout and without, and rows that come after others in the accumulation window.
struct Twins {
  Twins(const Subject& subject, const Situation& situation)
      : dropping(subject, plan_with(situation, kRate)), plain(subject, plan_with(situation, 0)) {
    if (!plain.has_core()) return;
    problem = draw_problem(plain, Level::core, situation);
    problem.mask.queries.first_row = problem.mask.keys.first_row = 5;
  }
  Rig dropping, plain;
  Problem problem;
};

bool same_bits(const Tensor& a, const Tensor& b) { return difference_in_bits(a, b) == 0; }

// Models have one rate for all kinds, so that there is nothing to refuse.
void test_without(const Subject& subject, Verdict& verdict) {
  for (const Situation& situation : small_situations(subject.promises())) {
    Twins twins(subject, situation);
    auto& [dropping, plain, problem] = twins;
    if (!same_bits(run(dropping, problem).output, run(plain, problem).output) ||
        !same_bits(evaluate(dropping, problem), evaluate(plain, problem)))
      verdict.fail(situation.name + ": shape.dropout changes the output, though dropout is not promised");
  }
  verdict.not_promised("it drops no weights");
}

void test_dropout(const Subject& subject, Verdict& verdict) {
  if (!Rig(subject, {}).has_core()) return verdict.not_promised("it computes nothing");
  if (!subject.promises().dropout) return test_without(subject, verdict);
  for (const Situation& situation : small_situations(subject.promises())) {
    Twins twins(subject, situation);
    auto& [dropping, plain, problem] = twins;
    compare(verdict, evaluate(dropping, problem), evaluate(plain, problem), 0,
            situation.name + ", outside training");
    const Run batch = run(dropping, problem);
    check_finite(verdict, batch.output, situation.name + ", in training");
    verdict.require(!same_bits(batch.output, run(plain, problem).output),
                    situation.name +
                        ": in training, shape.dropout changes nothing: pass it to dropout_weights() or "
                        "attend(), or promise {.dropout = false}");
    for (const Index b : all_sentences(problem)) {
      Problem alone = laid_out(problem, {b});
      if (alone.mask.queries.rows() == 0) continue;
      alone.mask.queries.first_row += problem.mask.queries.offset(b);
      alone.mask.keys.first_row += problem.mask.keys.offset(b);
      const Run part = run(dropping, alone);
      const std::string where = situation.name + ", sentence " + std::to_string(b) + " as a batch of its own";
      compare(verdict, part.output, rows_of(batch.output, problem.mask.queries, b), 0, where);
    }
  }
}

const Property dropout{"dropout", test_dropout};

}  // namespace
}  // namespace attnlab
