// What may and what must reach a query: nothing from the future, everything that is visible, and zeros where
// nothing is.
#include <cmath>

#include "attention/properties_compare.h"
#include "attention/properties_formula.h"

namespace attnlab {
namespace {

Tensor with_new_row(const Tensor& rows, Index row) {
  if (!rows) return {};
  const Tensor result = rows.clone();
  result.row_view(row, 1).copy_from(random_rows({1, rows.columns()}, "another token", rows.type()));
  return result;
}

// Changing token t of sentence b changes no bit before it, nor in other sentences.
void change_each_token(Rig& rig, const Problem& problem, Verdict& verdict, const std::string& where) {
  const Tensor before = evaluate(rig, problem);
  check_finite(verdict, before, where);
  const Sequences& places = problem.mask.queries;
  for (Index b = 0; b < places.count(); ++b)
    for (Index t = 0; t < places.length(b); ++t) {
      Problem changed = problem;
      const Index row = places.offset(b) + t;
      changed.query = with_new_row(problem.query, row);
      const Tensor after = evaluate(rig, changed);
      const Index behind = places.offset(b) + places.length(b);
      const std::string what = where + ", token " + std::to_string(t) + " changed";
      compare(verdict, after.row_view(0, row), before.row_view(0, row), 0, what);
      compare(verdict, after.row_view(behind, places.rows() - behind),
              before.row_view(behind, places.rows() - behind), 0, what + " in the sentence before");
    }
}

// A loss on one row leaves no gradient on later rows.
void differentiate_each_row(Rig& rig, Problem problem, Verdict& verdict) {
  const Sequences& places = problem.mask.queries;
  const Tensor d_output = problem.d_output;
  for (Index row = 0; row + 1 < places.rows(); ++row) {
    problem.d_output = Tensor::zeros(d_output.shape(), d_output.type());
    problem.d_output.row_view(row, 1).copy_from(d_output.row_view(row, 1));
    const Run result = run(rig, problem);
    const std::string what = "the gradient of row " + std::to_string(row);
    check_finite(verdict, result.d_query, what);
    verdict.require(all_zero(result.d_query.row_view(row + 1, places.rows() - row - 1)),
                    what + " reaches later ones");
  }
}

void test_causality(const Subject& subject, Verdict& verdict) {
  Situation situation = small_situations({}).at(2);
  if (!subject.promises().causal) {
    verdict.expect_refusal("a causal attention", [&] { const Rig rig(subject, situation.plan()); });
    verdict.expect_refusal("a causal mask", [&] {
      Rig rig(subject, {});
      evaluate(rig, draw_problem(rig, Level::whole, situation));
    });
    return;
  }
  for (const DType type : kTypes) {
    Rig rig(subject, situation.plan(type));
    const Problem problem = draw_problem(rig, Level::whole, situation);
    change_each_token(rig, problem, verdict, to_string(type));
    if (type == DType::f64) differentiate_each_row(rig, problem, verdict);
  }
}

void test_intervals(const Subject& subject, Verdict& verdict) {
  for (Situation& situation : small_situations({})) {
    if (situation.mask.intervals.empty() && situation.mask.band < 0) continue;
    const auto attempt = [&] {
      Rig rig(subject, {});
      check_finite(verdict, evaluate(rig, draw_problem(rig, Level::whole, situation)), situation.name);
    };
    if (subject.promises().intervals)
      attempt();
    else
      verdict.expect_refusal("a mask with " + situation.name, attempt);
  }
}

// Which queries of sentence b change when its key s and value s do.
std::vector<bool> changed_queries(const std::vector<double>& before, const std::vector<double>& after,
                                  Index T) {
  std::vector<bool> result(static_cast<std::size_t>(T), false);
  const std::size_t columns = before.size() / static_cast<std::size_t>(T);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!(std::abs(before[i] - after[i]) <= 1e-9)) result[i / columns] = true;
  return result;
}

void test_dependence_on(const Subject& subject, Rig& rig, const Problem& problem, Verdict& verdict,
                        const std::string& where) {
  const Tensor before = evaluate(rig, problem);
  check_finite(verdict, before, where);
  const Mask& mask = problem.mask;
  for (Index b = 0; b < mask.keys.count(); ++b)
    for (Index s = 0; s < mask.keys.length(b) && mask.queries.length(b) > 0; ++s) {
      Problem other = problem;
      other.key = with_new_row(problem.key, mask.keys.offset(b) + s);
      other.value = with_new_row(problem.value, mask.keys.offset(b) + s);
      const Index T = mask.queries.length(b);
      const Tensor after = evaluate(rig, other);
      check_finite(verdict, after, where + ", key " + std::to_string(s) + " changed");
      const auto got = changed_queries(rows_of(before, mask.queries, b).to_doubles(),
                                       rows_of(after, mask.queries, b).to_doubles(), T);
      const auto expected =
          changed_queries(reference_rows(rig, problem, b), reference_rows(rig, other, b), T);
      for (Index t = 0; t < T; ++t) {
        const auto i = static_cast<std::size_t>(t);
        const Interval seen = mask.visible(b, t);
        const bool visible = seen.begin <= s && s < seen.end;
        const std::string pair = where + ": query " + std::to_string(t) + " and key " + std::to_string(s);
        verdict.require(got[i] == expected[i],
                        pair + (got[i] ? " depend on each other, not so in the formula"
                                       : " do not depend on each other, but do in the formula"));
        verdict.require(visible || !got[i], pair + " depend on each other, but the key is hidden");
        if (subject.promises().dependence)
          verdict.require(!visible || got[i], pair + " do not depend on each other, but the key is visible");
      }
    }
}

void test_dependence(const Subject& subject, Verdict& verdict) {
  for (const Situation& situation : small_situations(subject.promises())) {
    Rig rig(subject, situation.plan());
    if (!rig.has_core()) {
      verdict.not_promised("it computes nothing");
      return;
    }
    Situation apart = situation;  // so that keys change without the queries
    apart.self = false;
    test_dependence_on(subject, rig, draw_problem(rig, Level::core, apart), verdict, situation.name);
  }
}

// Rows whose queries see nothing: zero at the core, with zero gradient; everything else finite.
void check_blind_rows(Rig& rig, const Problem& problem, Verdict& verdict, const std::string& where) {
  const Run result = run(rig, problem);
  check_finite(verdict, rig, result, where);
  if (problem.level == Level::whole) return;
  const Mask& mask = problem.mask;
  for (Index b = 0; b < mask.queries.count(); ++b)
    for (Index t = 0; t < mask.queries.length(b); ++t) {
      if (!mask.visible(b, t).empty()) continue;
      const Index row = mask.queries.offset(b) + t;
      const std::string what = where + ": query " + std::to_string(t) + ", which sees nothing, ";
      verdict.require(all_zero(result.output.row_view(row, 1)), what + "gives no zeros");
      if (problem.key && result.d_query)
        verdict.require(all_zero(result.d_query.row_view(row, 1)), what + "has a gradient");
    }
}

std::vector<Situation> blind_situations(const Promises& promises) {
  std::vector<Situation> all{small_situations(promises).at(1), small_situations({}).at(1)};
  all[1].name = "no keys at all";
  all[1].mask.keys = Sequences::of_lengths({0, 0, 0, 0});
  Situation nothing{"no queries", {}, false};
  nothing.mask.queries = Sequences::of_lengths({0, 0});
  nothing.mask.keys = Sequences::of_lengths({3, 0});
  all.push_back(nothing);
  if (promises.intervals) all.push_back(small_situations(promises).back());
  return all;
}

void test_nothing_to_see(const Subject& subject, Verdict& verdict) {
  for (const Situation& situation : blind_situations(subject.promises()))
    for (const DType type : kTypes) {
      Rig rig(subject, situation.plan(type));
      for (const Level level : levels(rig))
        check_blind_rows(rig, draw_problem(rig, level, situation), verdict,
                         situation.name + " in " + to_string(type));
    }
}

const Property causality{"causality", test_causality};
const Property intervals{"intervals", test_intervals};
const Property dependence{"dependence", test_dependence};
const Property nothing_to_see{"nothing to see", test_nothing_to_see};

}  // namespace
}  // namespace attnlab
