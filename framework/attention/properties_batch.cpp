// What surrounds a sentence must not matter: other sentences, their order, rows that belong to none.
#include <algorithm>

#include "attention/properties_compare.h"

namespace attnlab {
namespace {

struct Laid {
  const Problem& problem;
  const Run& run;
};

// Sentence i of one layout gives the same as sentence j of another.
void compare_sentences(Verdict& verdict, const Laid& a, Index i, const Laid& b, Index j, double bound,
                       const std::string& where) {
  const auto one = [&](const Tensor& x, const Sequences& in_a, const Tensor& y, const Sequences& in_b,
                       const char* what) {
    if (!x || in_a.length(i) == 0) return;
    compare(verdict, rows_of(x, in_a, i), rows_of(y, in_b, j), bound,
            where + ", " + what + " of sentence " + std::to_string(j));
  };
  const Mask &p = a.problem.mask, &q = b.problem.mask;
  one(a.run.output, p.queries, b.run.output, q.queries, "output");
  one(a.run.d_query, p.queries, b.run.d_query, q.queries, "gradient of queries");
  one(a.run.d_key, p.keys, b.run.d_key, q.keys, "gradient of keys");
  one(a.run.d_value, p.keys, b.run.d_value, q.keys, "gradient of values");
}

// Calls f for every situation, type and level, with a problem and its run.
template <class Function>
void over_everything(const Subject& subject, Function&& f) {
  for (const Situation& situation : small_situations(subject.promises()))
    for (const DType type : kTypes) {
      Rig rig(subject, situation.plan(type));
      for (const Level level : levels(rig)) {
        const Problem problem = draw_problem(rig, level, situation);
        f(rig, problem, run(rig, problem), situation.name + " in " + to_string(type));
      }
    }
}

void test_batch_invariance(const Subject& subject, Verdict& verdict) {
  over_everything(subject,
                  [&](Rig& rig, const Problem& batch, const Run& together, const std::string& where) {
                    for (const Index b : all_sentences(batch)) {
                      const Problem alone = laid_out(batch, {b});
                      compare_sentences(verdict, {alone, run(rig, alone)}, 0, {batch, together}, b,
                                        order_bound(rig.plan.type), where);
                    }
                  });
}

void test_batch_order(const Subject& subject, Verdict& verdict) {
  over_everything(subject, [&](Rig& rig, const Problem& batch, const Run& before, const std::string& where) {
    std::vector<Index> reversed = all_sentences(batch);
    std::reverse(reversed.begin(), reversed.end());
    const Problem turned = laid_out(batch, reversed);
    const Run after = run(rig, turned);
    for (std::size_t i = 0; i < reversed.size(); ++i)
      compare_sentences(verdict, {turned, after}, static_cast<Index>(i), {batch, before}, reversed[i],
                        order_bound(rig.plan.type), where);
  });
}

// Every sentence gets rows behind it that belong to none, as padding or a cache has: whatever they hold, no
// bit changes, and no gradient reaches them.
void test_padded_places(const Subject& subject, Verdict& verdict) {
  over_everything(subject, [&](Rig& rig, const Problem& batch, const Run& tight, const std::string& where) {
    const std::vector<Index> order = all_sentences(batch);
    const Problem padded = laid_out(batch, order, 2);
    const Run zeros = run(rig, padded);
    for (const Index b : order)
      compare_sentences(verdict, {padded, zeros}, b, {batch, tight}, b, order_bound(rig.plan.type),
                        where + ", padded");
    for (const Filler filler : {Filler::random, Filler::nan}) {
      const char* content = filler == Filler::nan ? ", NaN in padding" : ", numbers in padding";
      const Problem filled = laid_out(batch, order, 2, filler);
      const Run other = run(rig, filled);
      for (const Index b : order)
        compare_sentences(verdict, {filled, other}, b, {padded, zeros}, b, 0, where + content);
      // A NaN would pass through elementwise ops around the attention, as 0 times NaN.
      if (filler == Filler::random && other.d_query)
        compare(verdict, other.d_query, zeros.d_query, 0, where + content + ", gradient");
    }
  });
}

const Property invariance{"batch invariance", test_batch_invariance};
const Property order{"batch order", test_batch_order};
const Property padding{"padded places", test_padded_places};

}  // namespace
}  // namespace attnlab
