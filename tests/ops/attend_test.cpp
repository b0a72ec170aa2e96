#include "ops/attend.h"

#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

struct Problem {
  Mask mask;
  AttendOptions options;
  Index width = 3, value_width = 3;  // of a head
  Tensor query, key, value;

  Problem& draw(DType type = DType::f64, const std::string& name = "attend") {
    const Index queries = mask.queries.rows(), keys = mask.keys.rows(), heads = options.heads;
    query = random_tensor({queries, heads * width}, name + " query").converted(type);
    key = random_tensor({keys, heads * width}, name + " key").converted(type);
    value = random_tensor({keys, heads * value_width}, name + " value").converted(type);
    return *this;
  }
};

Problem self(const std::vector<Index>& lengths, Index heads = 2) {
  Problem p;
  p.mask.queries = p.mask.keys = Sequences::of_lengths(lengths);
  p.options.heads = heads;
  p.options.scale = 0.6;
  return p;
}

Problem cross() {
  Problem p = self({4, 1, 3});
  p.mask.keys = Sequences::of_lengths({2, 5, 0});  // the last three queries see nothing
  p.value_width = 4;
  return p;
}

Problem causal() {
  Problem p = self({5, 3});
  p.mask.causal = true;
  return p;
}

Problem band() {
  Problem p = self({9, 2});
  p.mask.band = 2;
  return p;
}

Problem intervals() {
  Problem p = self({4, 3});
  p.mask.intervals = {{1, 3}, {2, 2}, {0, 4}, {3, 9}, {0, 1}, {1, 3}, {2, 1}};
  return p;
}

Problem dropped() {
  Problem p = self({11, 6});
  p.options.dropout = 0.3;
  p.options.stream = 5;
  p.mask.queries.first_row = 7;
  return p;
}

GradientCheck gradient_of(Problem p) {
  p.draw();
  return {[p](Tape&, const std::vector<Var>& in) { return attend(in[0], in[1], in[2], p.mask, p.options); },
          {p.query, p.key, p.value}};
}

const GradientCase self_case{"attend self", [] { return gradient_of(self({4, 1, 6})); }};
const GradientCase cross_case{"attend cross", [] { return gradient_of(cross()); }};
const GradientCase causal_case{"attend causal", [] { return gradient_of(causal()); }};
const GradientCase band_case{"attend band", [] { return gradient_of(band()); }};
const GradientCase interval_case{"attend intervals", [] { return gradient_of(intervals()); }};
const GradientCase dropped_case{"attend dropout", [] { return gradient_of(dropped()); }};
const GradientCase long_case{"attend long", [] { return gradient_of(self({70, 130}, 1)); }};

// The same by the definition, in f64.
std::vector<double> naive(const Problem& p, const Random& random) {
  const Index heads = p.options.heads;
  const auto q = p.query.to_doubles(), k = p.key.to_doubles(), v = p.value.to_doubles();
  std::vector<double> out(static_cast<std::size_t>(p.mask.queries.rows() * heads * p.value_width));
  const auto at = [](const std::vector<double>& x, Index i) { return x[static_cast<std::size_t>(i)]; };
  const auto threshold = std::lround(p.options.dropout * 65536);
  for (Index b = 0; b < p.mask.queries.count(); ++b)
    for (Index t = 0; t < p.mask.queries.length(b); ++t)
      for (Index h = 0; h < heads; ++h) {
        const Index row = p.mask.queries.offset(b) + t;
        const Interval seen = p.mask.visible(b, t);
        double total = 0, most = -1e300;
        std::vector<double> weights;
        for (Index s = seen.begin; s < seen.end; ++s) {
          double score = 0;
          for (Index j = 0; j < p.width; ++j)
            score += at(q, (row * heads + h) * p.width + j) *
                     at(k, ((p.mask.keys.offset(b) + s) * heads + h) * p.width + j);
          weights.push_back(score * p.options.scale);
          most = std::max(most, weights.back());
        }
        for (double& w : weights) total += w = std::exp(w - most);
        for (Index s = seen.begin; s < seen.end; ++s) {
          double weight = at(weights, s - seen.begin) / total;
          if (threshold) {
            const auto global = static_cast<std::uint64_t>((p.mask.queries.first_row + row) * heads + h);
            const auto words = random.block((global << 20) + static_cast<std::uint64_t>(s / 8));
            const auto lane = words[static_cast<std::size_t>(s % 8 / 2)] >> (16 * (s % 2)) & 0xffff;
            weight = lane < threshold ? 0 : weight / (1 - static_cast<double>(threshold) / 65536);
          }
          for (Index j = 0; j < p.value_width; ++j)
            out[static_cast<std::size_t>((row * heads + h) * p.value_width + j)] +=
                weight * at(v, ((p.mask.keys.offset(b) + s) * heads + h) * p.value_width + j);
        }
      }
  return out;
}

// Output and gradients under a fixed gradient of the output.
struct Result {
  Tensor output, d_query, d_key, d_value;
};
Result run(const Problem& p) {
  Tape tape({.seed = 3});
  const Var query = tape.variable(p.query), key = tape.variable(p.key), value = tape.variable(p.value);
  const Var out = attend(query, key, value, p.mask, p.options);
  tape.backward(out, random_tensor(out.shape(), "gradient").converted(out.type()));
  return {out.value(), tape.gradient(query), tape.gradient(key), tape.gradient(value)};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
    size = std::max(size, std::abs(b[i]));
  }
  return worst / size;
}

std::vector<Problem> every_kind() {
  Problem long_causal = self({200, 65}), long_band = self({300}, 1), cached = cross();
  long_causal.mask.causal = true;
  long_causal.options.dropout = 0.1;
  long_causal.width = 17;
  long_causal.value_width = 33;
  long_band.mask.band = 20;
  cached.mask.queries = Sequences::of_lengths({1, 2});
  cached.mask.keys = Sequences::of_lengths({8, 8});
  cached.mask.keys.lengths = {3, 7};
  cached.mask.past = {2, 5};
  cached.mask.causal = true;
  return {self({4, 1, 6}), cross(), causal(), band(), intervals(), dropped(), long_causal, long_band, cached};
}

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
      const Result narrow = run(p);
      p.query = p.query.converted(DType::f64), p.key = p.key.converted(DType::f64),
      p.value = p.value.converted(DType::f64);
      const Result wide = run(p);
      const double bound = type == DType::f32 ? 2e-6 : 1.5e-2;
      CHECK(distance(narrow.output.to_doubles(), wide.output.to_doubles()) < bound);
      CHECK(distance(narrow.d_query.to_doubles(), wide.d_query.to_doubles()) < bound);
      CHECK(distance(narrow.d_key.to_doubles(), wide.d_key.to_doubles()) < bound);
      CHECK(distance(narrow.d_value.to_doubles(), wide.d_value.to_doubles()) < bound);
    }
}

TEST_CASE("attend has the same bits for any number of threads") {
  const int before = thread_count();
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (Problem p : every_kind()) {
      p.draw(type);
      set_thread_count(1);
      const Result one = run(p);
      for (const int threads : {2, 3, 7, 64}) {
        set_thread_count(threads);
        const Result many = run(p);
        CHECK(many.output.to_doubles() == one.output.to_doubles());
        CHECK(many.d_query.to_doubles() == one.d_query.to_doubles());
        CHECK(many.d_key.to_doubles() == one.d_key.to_doubles());
        CHECK(many.d_value.to_doubles() == one.d_value.to_doubles());
      }
    }
  set_thread_count(before);
}
