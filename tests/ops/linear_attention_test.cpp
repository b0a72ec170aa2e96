#include "ops/linear_attention.h"

#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "ops/attention_result.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

struct Problem {
  Mask mask;
  Index heads = 2, width = 3, value_width = 4;
  Tensor query, key, value;

  // Features are positive, as those of elu + 1.
  Problem& draw(DType type = DType::f64) {
    const auto positive = [](Tensor x) {
      for (double& v : x.values<double>()) v = v > 0 ? v + 1 : std::exp(v);
      return x;
    };
    query = positive(random_tensor({mask.queries.rows(), heads * width}, "linear query")).converted(type);
    key = positive(random_tensor({mask.keys.rows(), heads * width}, "linear key")).converted(type);
    value = random_tensor({mask.keys.rows(), heads * value_width}, "linear value").converted(type);
    return *this;
  }
};

Problem self(const std::vector<Index>& lengths) {
  Problem p;
  p.mask.queries = p.mask.keys = Sequences::of_lengths(lengths);
  return p;
}
Problem cross() {
  Problem p = self({4, 70, 3});
  p.mask.keys = Sequences::of_lengths({150, 5, 0});
  return p;
}
Problem causal() {
  Problem p = self({5, 200});
  p.mask.causal = true;
  return p;
}
Problem band() {
  Problem p = self({90, 2});
  p.mask.band = 3;
  return p;
}
Problem intervals() {  // prefixes that grow, with empty rows between
  Problem p = self({130, 3});
  p.mask.queries = Sequences::of_lengths({5, 3});
  p.mask.intervals = {{0, 70}, {2, 2}, {0, 100}, {0, 130}, {0, 0}, {1, 3}, {2, 1}, {0, 1}};
  return p;
}
Problem shrinking() {
  Problem p = self({130});
  for (Index t = 0; t < 130; ++t) p.mask.intervals.push_back({0, 130 - t});
  return p;
}
Problem cached() {
  Problem p = self({2, 3});
  p.mask.keys = Sequences::of_lengths({100, 100});
  p.mask.keys.lengths = {80, 67};
  p.mask.past = {78, 64};
  p.mask.causal = true;
  return p;
}
std::vector<Problem> every_kind() {
  return {self({4, 1, 6}), cross(), causal(), band(), intervals(), shrinking(), cached()};
}

GradientCheck gradient_of(Problem p) {
  p.draw();
  return {[p](Tape&, const std::vector<Var>& in) {
            return linear_attention(in[0], in[1], in[2], p.mask, p.heads);
          },
          {p.query, p.key, p.value}};
}

const GradientCase elu_case{"elu_plus_one", [] {
                              return GradientCheck{
                                  [](Tape&, const std::vector<Var>& in) { return elu_plus_one(in[0]); },
                                  {random_tensor({5, 7}, "elu")}};
                            }};
const GradientCase self_case{"linear attention self", [] { return gradient_of(self({4, 1, 6})); }};
const GradientCase cross_case{"linear attention cross", [] { return gradient_of(cross()); }};
const GradientCase causal_case{"linear attention causal", [] { return gradient_of(causal()); }};
const GradientCase band_case{"linear attention band", [] { return gradient_of(band()); }};
const GradientCase interval_case{"linear attention intervals", [] { return gradient_of(intervals()); }};
const GradientCase shrinking_case{"linear attention shrinking", [] { return gradient_of(shrinking()); }};

std::vector<double> naive(const Problem& p) {
  const auto q = p.query.to_doubles(), k = p.key.to_doubles(), v = p.value.to_doubles();
  std::vector<double> out(static_cast<std::size_t>(p.mask.queries.rows() * p.heads * p.value_width));
  const auto at = [](const std::vector<double>& x, Index i) { return x[static_cast<std::size_t>(i)]; };
  for (Index b = 0; b < p.mask.queries.count(); ++b)
    for (Index t = 0; t < p.mask.queries.length(b); ++t)
      for (Index h = 0; h < p.heads; ++h) {
        const Interval seen = p.mask.visible(b, t);
        const Index row = (p.mask.queries.offset(b) + t) * p.heads + h;
        double sum = 0;
        for (Index s = seen.begin; s < seen.end; ++s) {
          const Index key_row = (p.mask.keys.offset(b) + s) * p.heads + h;
          double weight = 0;
          for (Index j = 0; j < p.width; ++j)
            weight += at(q, row * p.width + j) * at(k, key_row * p.width + j);
          sum += weight;
          for (Index j = 0; j < p.value_width; ++j)
            out[static_cast<std::size_t>(row * p.value_width + j)] +=
                weight * at(v, key_row * p.value_width + j);
        }
        for (Index j = 0; j < p.value_width && sum != 0; ++j)
          out[static_cast<std::size_t>(row * p.value_width + j)] /= sum;
      }
  return out;
}

AttentionResult run(const Problem& p) {
  Tape tape;
  const Var query = tape.variable(p.query), key = tape.variable(p.key), value = tape.variable(p.value);
  const Var out = linear_attention(query, key, value, p.mask, p.heads);
  tape.backward(out, random_tensor(out.shape(), "gradient").converted(out.type()));
  return {out.value(), tape.gradient(query), tape.gradient(key), tape.gradient(value)};
}

}  // namespace

TEST_CASE("linear attention equals its definition in f64") {
  for (Problem& p : every_kind()) {
    p.draw();
    CHECK(distance(run(p).output.to_doubles(), naive(p)) < 1e-13);
  }
}

TEST_CASE("linear attention in f32 and bf16 is near f64") {
  for (const DType type : {DType::f32, DType::bf16})
    for (Problem p : every_kind()) {
      p.draw(type);
      const AttentionResult narrow = run(p);
      p.query = p.query.converted(DType::f64), p.key = p.key.converted(DType::f64),
      p.value = p.value.converted(DType::f64);
      const AttentionResult wide = run(p);
      const double bound = type == DType::f32 ? 4e-6 : 2e-2;
      check_near(narrow, wide, bound);
    }
}

TEST_CASE("linear attention has the same bits for any number of threads") {
  const int before = thread_count();
  for (Problem p : every_kind()) {
    p.draw(DType::f32);
    set_thread_count(1);
    const AttentionResult one = run(p);
    for (const int threads : {2, 3, 7}) {
      set_thread_count(threads);
      const AttentionResult many = run(p);
      check_same(many, one);
    }
  }
  set_thread_count(before);
}

TEST_CASE("a linear attention row that sees nothing or has no weight gives zeros and no gradient") {
  Problem p = self({3, 2});
  p.draw(DType::f32);
  p.mask.intervals = {{0, 3}, {1, 1}, {0, 2}, {0, 2}, {0, 2}};
  p.query.row_view(4, 1).fill(0);  // its denominator is zero
  p.query.row_view(1, 1).fill(std::numeric_limits<double>::quiet_NaN());
  const AttentionResult result = run(p);
  for (const Index row : {1, 4})
    for (Index j = 0; j < result.output.columns(); ++j)
      CHECK(result.output.data<float>()[row * result.output.columns() + j] == 0);
  for (const Tensor& d : {result.d_query, result.d_key, result.d_value})
    for (const double x : d.to_doubles()) CHECK(std::isfinite(x));
  for (Index j = 0; j < result.d_query.columns(); ++j)
    CHECK(result.d_query.data<float>()[result.d_query.columns() + j] == 0);
}

TEST_CASE("linear attention step by step equals all at once") {
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    Problem p = self({6, 3, 4});
    p.mask.causal = true;
    p.draw(type);
    const auto whole = run(p).output.to_doubles();
    const auto state = LinearAttentionState::zeros(3, p.heads, p.width, p.value_width, type);
    std::vector<double> stepped(whole.size());
    for (Index t = 0; t < 6; ++t) {
      Sequences rows = p.mask.queries;  // one row of each sentence that is long enough
      for (Index b = 0; b < 3; ++b) {
        rows.offsets[static_cast<std::size_t>(b)] += std::min(t, p.mask.queries.length(b));
        rows.lengths.push_back(t < p.mask.queries.length(b) ? 1 : 0);
      }
      const Tensor out = linear_attention_step(p.query, p.key, p.value, rows, p.heads, state);
      const auto values = out.to_doubles();
      for (std::size_t i = 0; i < values.size(); ++i) stepped[i] += values[i];
    }
    CHECK(distance(stepped, whole) < (type == DType::f64 ? 1e-14 : type == DType::f32 ? 1e-6 : 0.01));
  }
}
