// Dropout of the weights, if the kind has it: off outside training, and drawn by a row's number in the
// accumulation window, so that splitting a batch changes nothing.
#include "attention/properties_problem.h"
#include "attention/properties_table.h"

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

// Whether the rate changes anything at all, in training or outside.
bool drops(const Subject& subject) {
  for (const Situation& situation : small_situations(subject.promises())) {
    Twins twins(subject, situation);
    auto& [dropping, plain, problem] = twins;
    if (difference_in_bits(run(dropping, problem).output, run(plain, problem).output) != 0) return true;
    if (difference_in_bits(evaluate(dropping, problem), evaluate(plain, problem)) != 0) return true;
  }
  return false;
}

void test_dropout(const Subject& subject, Verdict& verdict) {
  if (!Rig(subject, {}).has_core()) return verdict.not_promised("it computes nothing");
  if (!drops(subject)) return verdict.not_promised("it drops no weights");
  for (const Situation& situation : small_situations(subject.promises())) {
    Twins twins(subject, situation);
    auto& [dropping, plain, problem] = twins;
    verdict.measure(difference_in_bits(evaluate(dropping, problem), evaluate(plain, problem)), 0,
                    situation.name + ", outside training");
    const Run batch = run(dropping, problem);
    for (const Index b : all_sentences(problem)) {
      Problem alone = laid_out(problem, {b});
      if (alone.mask.queries.rows() == 0) continue;
      alone.mask.queries.first_row += problem.mask.queries.offset(b);
      alone.mask.keys.first_row += problem.mask.keys.offset(b);
      const Run part = run(dropping, alone);
      const std::string where = situation.name + ", sentence " + std::to_string(b) + " as a batch of its own";
      verdict.measure(difference_in_bits(part.output, rows_of(batch.output, problem.mask.queries, b)), 0,
                      where);
    }
  }
}

const Property dropout{"dropout", test_dropout};

}  // namespace
}  // namespace attnlab
