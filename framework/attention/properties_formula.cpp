// The core against the kind's own formula in plain loops, for parts of the queries, and for keys in another
// order.
#include "attention/properties_formula.h"

#include "attention/properties_compare.h"

namespace attnlab {
namespace {

// Columns of head h of some rows, as f64.
std::vector<double> head_columns(const Tensor& rows, Index heads, Index h) {
  if (!rows) return {};
  const Index columns = rows.columns() / heads;
  return rows.column_view(h * columns, columns).to_doubles();
}

void test_formula(const Subject& subject, Verdict& verdict) {
  for (const bool large : {false, true})
    for (const Situation& situation :
         large ? large_situations(subject.promises()) : small_situations(subject.promises())) {
      Rig rig(subject, situation.plan(DType::f64, large));
      if (!rig.has_core()) {
        verdict.require(all_zero(evaluate(rig, draw_problem(rig, Level::whole, situation))),
                        "an attention without a core gives no zeros");
        continue;
      }
      const Problem problem = draw_problem(rig, Level::core, situation);
      const Tensor output = evaluate(rig, problem);
      const Sequences& places = problem.mask.queries;
      for (Index b = 0; b < places.count(); ++b) {
        const Tensor rows = rows_of(output, places, b);
        const Tensor expected = Tensor::from(rows.shape(), DType::f64, reference_rows(rig, problem, b));
        const std::string where = situation.name + ", sentence " + std::to_string(b);
        if (check_finite(verdict, expected, where + ", reference()"))
          compare(verdict, rows, expected, 1e-10, where);
      }
    }
}

// The queries first, … of one sentence alone, with all its keys.
Problem part_of_queries(const Rig& rig, const Problem& problem, Index b, Index first, Index count) {
  Problem part = laid_out(problem, {b});
  const auto rows = [&](const Tensor& x) { return x ? x.row_view(first, count) : Tensor(); };
  if (!part.key && rig.attention->kind().projections().key) part.key = part.query;
  part.query = rows(part.query);
  part.d_output = rows(part.d_output);
  part.mask.queries = Sequences::of_lengths({count});
  part.mask.past = {problem.mask.position(b, first)};
  if (!part.mask.intervals.empty())
    part.mask.intervals = {part.mask.intervals.begin() + first, part.mask.intervals.begin() + first + count};
  return part;
}

void test_query_subset(const Subject& subject, Verdict& verdict) {
  if (!subject.promises().query_subset) {
    verdict.not_promised("a query's row may depend on other queries");
    return;
  }
  for (const Situation& situation : small_situations(subject.promises())) {
    Rig rig(subject, situation.plan());
    if (!rig.has_core()) return verdict.not_promised("it computes nothing");
    const Problem problem = draw_problem(rig, Level::core, situation);
    const Tensor whole = evaluate(rig, problem);
    const Sequences& places = problem.mask.queries;
    for (Index b = 0; b < places.count(); ++b)
      for (Index first = 0; first < places.length(b); ++first)
        for (const Index count : {Index{1}, places.length(b) - first}) {
          const Tensor some = evaluate(rig, part_of_queries(rig, problem, b, first, count));
          compare(verdict, some, whole.row_view(places.offset(b) + first, count), 1e-12,
                  situation.name + ", sentence " + std::to_string(b) + ", query " + std::to_string(first) +
                      " on");
        }
  }
}

// Each sentence's rows from the last to the first.
Tensor turned(const Tensor& rows, const Sequences& places) {
  if (!rows) return {};
  const Tensor result = rows.clone();
  for (Index b = 0; b < places.count(); ++b)
    for (Index s = 0; s < places.length(b); ++s)
      result.row_view(places.offset(b) + s, 1)
          .copy_from(rows.row_view(places.offset(b) + places.length(b) - 1 - s, 1));
  return result;
}

void test_key_order(const Subject& subject, Verdict& verdict) {
  if (!subject.promises().key_permutation) {
    verdict.not_promised("the order of keys means something to it");
    return;
  }
  for (Situation situation : small_situations({.causal = false, .intervals = false})) {
    situation.self = false;
    Rig rig(subject, {});
    if (!rig.has_core()) return verdict.not_promised("it computes nothing");
    const Problem problem = draw_problem(rig, Level::core, situation);
    const Sequences& places = problem.mask.keys;
    Problem other = problem;
    other.key = turned(problem.key, places);
    other.value = turned(problem.value, places);
    const Run before = run(rig, problem), after = run(rig, other);
    compare(verdict, after.output, before.output, 1e-12, situation.name);
    if (before.d_value)
      compare(verdict, turned(after.d_value, places), before.d_value, 1e-12,
              situation.name + ", gradient of values");
    if (before.d_key)
      compare(verdict, turned(after.d_key, places), before.d_key, 1e-12,
              situation.name + ", gradient of keys");
  }
}

const Property formula{"formula", test_formula};
const Property query_subset{"query subset", test_query_subset};
const Property key_order{"key order", test_key_order};

}  // namespace

std::vector<double> formula_rows(const Rig& rig, const Problem& problem, Index b, const Formula& formula) {
  const AttentionShape& shape = rig.shape();
  const Mask& mask = problem.mask;
  HeadProblem head{mask.queries.length(b), mask.keys.length(b), shape.K, shape.V, 0, {}, {}, {}, {}};
  head.past = mask.position(b, 0);
  head.visible = [&mask, b](Index t) { return mask.visible(b, t); };
  const bool shared = rig.attention->kind().projections().key && !problem.key;
  const auto part = [&](const Tensor& rows, const Sequences& places) {
    return rows ? rows_of(rows, places, b) : Tensor();
  };
  const Tensor query = part(problem.query, mask.queries);
  const Tensor key = shared ? query : part(problem.key, mask.keys);
  const Tensor value = part(problem.value, mask.keys);
  std::vector<double> result(static_cast<std::size_t>(head.T * shape.H * shape.V));
  for (head.head = 0; head.head < shape.H; ++head.head) {
    head.query = head_columns(query, shape.H, head.head);
    head.key = head_columns(key, shape.H, head.head);
    head.value = head_columns(value, shape.H, head.head);
    const std::vector<double> rows = formula(head);
    check(rows.size() == static_cast<std::size_t>(head.T * shape.V), "reference() gave ", rows.size(),
          " numbers, expected ", head.T * shape.V);
    for (Index t = 0; t < head.T; ++t)
      std::copy_n(rows.begin() + t * shape.V, shape.V, result.begin() + (t * shape.H + head.head) * shape.V);
  }
  return result;
}

std::vector<double> reference_rows(const Rig& rig, const Problem& problem, Index b) {
  return formula_rows(rig, problem, b,
                      [&rig](const HeadProblem& head) { return rig.attention->kind().reference(head); });
}

}  // namespace attnlab
