#include "ops/attend.h"
#include "core/parallel.h"
#include "ops/attend_problems.h"
#include "ops/linear.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;
using namespace attnlab::attend_problems;

namespace {

const GradientCase self_case{"attend self", [] { return gradient_of(self({4, 1, 6})); }};
const GradientCase cross_case{"attend cross", [] { return gradient_of(cross()); }};
const GradientCase causal_case{"attend causal", [] { return gradient_of(causal()); }};
const GradientCase band_case{"attend band", [] { return gradient_of(band()); }};
const GradientCase interval_case{"attend intervals", [] { return gradient_of(intervals()); }};
const GradientCase dropped_case{"attend dropout", [] { return gradient_of(dropped()); }};
const GradientCase long_case{"attend long", [] { return gradient_of(self({70, 130}, 1)); }};

}  // namespace

TEST_CASE("attend equals its definition in f64") {
  for (Problem& p : every_kind()) {
    p.draw();
    Tape tape({.seed = 3});
    const Var out =
        attend(tape.constant(p.query), tape.constant(p.key), tape.constant(p.value), p.mask, p.options);
    CHECK(distance(out.value().to_doubles(), naive(p, tape.random(p.options.stream))) < 1e-13);
  }
}

TEST_CASE("attend in f32 and bf16 is near f64") {
  for (const DType type : {DType::f32, DType::bf16})
    for (Problem p : every_kind()) {
      p.draw(type);
      const AttentionResult narrow = run(p);
      p.query = p.query.converted(DType::f64), p.key = p.key.converted(DType::f64),
      p.value = p.value.converted(DType::f64);
      const AttentionResult wide = run(p);
      const double bound = type == DType::f32 ? 2e-6 : 1.5e-2;
      check_near(narrow, wide, bound);
    }
}

TEST_CASE("attend has the same bits for any number of threads") {
  const int before = thread_count();
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (Problem p : every_kind()) {
      p.draw(type);
      set_thread_count(1);
      const AttentionResult one = run(p);
      for (const int threads : {2, 3, 7, 64}) {
        set_thread_count(threads);
        const AttentionResult many = run(p);
        check_same(many, one);
      }
    }
  set_thread_count(before);
}
TEST_CASE("attention weights add up to one and reproduce the output") {
  for (Problem p : every_kind()) {
    p.options.dropout = 0;
    p.draw();
    const Tensor weights = attention_weights(p.query, p.key, p.mask, p.options);
    const auto output = run(p).output.to_doubles(), value = p.value.to_doubles(), w = weights.to_doubles();
    const Index heads = p.options.heads, longest = weights.shape()[2], keys = weights.shape()[3];
    for (Index b = 0; b < p.mask.queries.count(); ++b)
      for (Index h = 0; h < heads; ++h)
        for (Index t = 0; t < p.mask.queries.length(b); ++t) {
          double total = 0, first = 0;
          for (Index s = 0; s < keys; ++s) {
            const double weight = w[static_cast<std::size_t>(((b * heads + h) * longest + t) * keys + s)];
            total += weight;
            if (weight != 0)
              first +=
                  weight *
                  value[static_cast<std::size_t>(((p.mask.keys.offset(b) + s) * heads + h) * p.value_width)];
          }
          CHECK(total == Approx(p.mask.visible(b, t).empty() ? 0 : 1));
          const Index row = p.mask.queries.offset(b) + t;
          CHECK(output[static_cast<std::size_t>((row * heads + h) * p.value_width)] ==
                Approx(first).margin(1e-12));
        }
  }
}

TEST_CASE("dropout of attention weights drops the right share and is off outside training") {
  Problem p = self({64}, 4);
  p.options.dropout = 0.25;
  p.draw(DType::f32);
  p.value.fill(1);  // the output is the sum of the kept weights, scaled
  Tape off({.training = false});
  for (const double x :
       attend(off.constant(p.query), off.constant(p.key), off.constant(p.value), p.mask, p.options)
           .value()
           .to_doubles())
    CHECK(x == Approx(1));
  p.query.fill(0);
  double sum = 0;
  const auto sums = run(p).output.to_doubles();
  for (const double x : sums) sum += x;
  CHECK(sum / static_cast<double>(sums.size()) == Approx(1).margin(0.02));
}

TEST_CASE("attend refuses what does not fit") {
  Problem p = self({4, 2});
  p.draw();
  const auto call = [&p] {
    Tape tape;
    return attend(tape.variable(p.query), tape.variable(p.key), tape.variable(p.value), p.mask, p.options);
  };
  CHECK_NOTHROW(call());
  for (const auto& spoil : std::vector<std::function<void(Problem&)>>{
           [](Problem& x) { x.options.heads = 4; }, [](Problem& x) { x.options.heads = 0; },
           [](Problem& x) { x.options.dropout = 1; }, [](Problem& x) { x.key = x.key.row_view(0, 5); },
           [](Problem& x) { x.key = x.key.converted(DType::f32); }, [](Problem& x) { x.mask.past = {1}; },
           [](Problem& x) {
             x.mask.intervals = {{0, 1}};
           },
           [](Problem& x) {
             x.mask.keys.offsets = {0, 4, 7};
           },
           [](Problem& x) {
             x.mask.keys.offsets = {0, 6};
           },
           [](Problem& x) { x.mask.keys.lengths = {4}; },
           [](Problem& x) {
             x.mask.keys.lengths = {5, 2};
           }}) {
    Problem before = p;
    spoil(p);
    CHECK_THROWS_AS(call(), ShapeError);
    p = before;
  }
}

namespace {

// Query, key and value as column blocks of one product: their gradients are written side by side.
const GradientCase packed_case{"attend on a group of projections", [] {
                                 const Mask mask = causal().mask;
                                 return GradientCheck{
                                     [mask](Tape&, const std::vector<Var>& in) {
                                       const auto parts = linear_group(in[0], {in[1], in[2], in[3]});
                                       return attend(parts[0], parts[1], parts[2], mask, {2, 0.5, 0, 0});
                                     },
                                     {random_tensor({8, 5}, "packed x"), random_tensor({6, 5}, "packed q"),
                                      random_tensor({6, 5}, "packed k"), random_tensor({6, 5}, "packed v")}};
                               }};

}  // namespace
