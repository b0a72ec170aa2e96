// The promise `exact`: each head is a softmax over its dot products, all times one factor (1 / sqrt(K), or a
// learned one), of the keys that it lets a query see. Whatever else it does to the weights is another
// attention.
#include <cmath>
#include <optional>

#include "attention/properties_compare.h"
#include "attention/properties_formula.h"
#include "attention/softmax_reference.h"

namespace attnlab {
namespace {

// A query of sentence b that sees two keys or more.
struct Choice {
  Index b = 0, t = 0;
  Interval seen;
};

std::optional<Choice> first_choice(const Mask& mask) {
  for (Index b = 0; b < mask.queries.count(); ++b)
    for (Index t = 0; t < mask.queries.length(b); ++t)
      if (mask.visible(b, t).count() > 1) return Choice{b, t, mask.visible(b, t)};
  return std::nullopt;
}

// What each head of the query weighs key s with: its output where that key's value is 1 and all others are 0.
std::vector<double> weights_of(Rig& rig, const Problem& problem, const Choice& choice, Index s) {
  Problem lone = problem;
  lone.value = Tensor::zeros(problem.value.shape(), DType::f64);
  lone.value.row_view(problem.mask.keys.offset(choice.b) + s, 1).fill(1);
  const Index row = problem.mask.queries.offset(choice.b) + choice.t;
  const auto output = evaluate(rig, lone).row_view(row, 1).to_doubles();
  std::vector<double> weights;
  for (Index h = 0; h < rig.shape().H; ++h)
    weights.push_back(output[static_cast<std::size_t>(h * rig.shape().V)]);
  return weights;
}

// The factor of each head, from how a query weighs two keys; 1, as good as any, where each sees one at most.
std::vector<double> factors_of(Rig& rig, const Problem& problem) {
  const Index H = rig.shape().H, K = rig.shape().K;
  std::vector<double> factors(static_cast<std::size_t>(H), 1.0);
  const auto choice = first_choice(rig.attention->kind().narrowed(problem.mask));
  if (!choice) return factors;
  const Index first = choice->seen.begin, last = choice->seen.end - 1;
  const auto of_first = weights_of(rig, problem, *choice, first);
  const auto of_last = weights_of(rig, problem, *choice, last);
  const Index keys = problem.mask.keys.offset(choice->b);
  const auto row = [](const Tensor& rows, Index i) { return rows.row_view(i, 1).to_doubles(); };
  const auto query = row(problem.query, problem.mask.queries.offset(choice->b) + choice->t);
  const auto a = row(problem.key, keys + first), b = row(problem.key, keys + last);
  for (std::size_t h = 0; h < factors.size(); ++h) {
    double difference = 0;
    for (std::size_t i = h * static_cast<std::size_t>(K); i < (h + 1) * static_cast<std::size_t>(K); ++i)
      difference += query[i] * (a[i] - b[i]);
    factors[h] = std::log(of_first[h] / of_last[h]) / difference;
  }
  return factors;
}

void test_situation(Rig& rig, const Problem& problem, Verdict& verdict, const std::string& where) {
  const Tensor output = evaluate(rig, problem);
  if (!check_finite(verdict, output, where)) return;
  const auto factors = factors_of(rig, problem);
  for (const double factor : factors)
    if (!std::isfinite(factor) || std::abs(factor) < 1e-9)
      return verdict.fail(where +
                          ": weights do not follow the dot products of queries and keys; if that is "
                          "meant, promise {.exact = false}");
  Problem narrowed = problem;
  narrowed.mask = rig.attention->kind().narrowed(problem.mask);
  const auto softmax = [&factors](const HeadProblem& p) {
    return softmax_reference(p, factors[static_cast<std::size_t>(p.head)]);
  };
  for (Index b = 0; b < problem.mask.queries.count(); ++b) {
    const Tensor rows = rows_of(output, problem.mask.queries, b);
    const Tensor expected = Tensor::from(rows.shape(), DType::f64, formula_rows(rig, narrowed, b, softmax));
    compare(verdict, rows, expected, 1e-10,
            where + ", sentence " + std::to_string(b) + ", beside a softmax over dot products");
  }
}

void test_exact(const Subject& subject, Verdict& verdict) {
  if (!subject.promises().exact)
    return verdict.not_promised("it is no softmax over dot products, or more than that");
  for (Situation situation : small_situations(subject.promises())) {
    Rig rig(subject, situation.plan());
    if (!rig.has_core()) return verdict.not_promised("it computes nothing");
    situation.self = false;  // keys of their own at the core, also where one map serves queries and keys
    const Problem problem = draw_problem(rig, Level::core, situation);
    if (!problem.query || !problem.key || !problem.value)
      return verdict.fail("it takes no queries, keys or values; promise {.exact = false}");
    test_situation(rig, problem, verdict, situation.name);
  }
}

const Property exact{"exact", test_exact};

}  // namespace
}  // namespace attnlab
