#include "ops/attend.h"

#include <cmath>
#include <functional>
#include <limits>

#include "core/parallel.h"
#include "ops/linear.h"
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

namespace {

void check_same(const Tensor& a, const Tensor& b) { CHECK(a.to_doubles() == b.to_doubles()); }

// Rows [first, first + count) of a matrix, as a copy.
Tensor rows_of(const Tensor& tensor, Index first, Index count) {
  return tensor.row_view(first, count).clone();
}

// Sentence b of a problem without dropout, alone.
Problem alone(const Problem& p, Index b) {
  Problem one = p;
  const auto of = [b](const Sequences& s) { return Sequences::of_lengths({s.length(b)}); };
  one.mask.queries = of(p.mask.queries), one.mask.keys = of(p.mask.keys);
  if (!p.mask.past.empty()) one.mask.past = {p.mask.past[static_cast<std::size_t>(b)]};
  const Index row = p.mask.queries.offset(b), count = p.mask.queries.length(b);
  if (!p.mask.intervals.empty())
    one.mask.intervals.assign(p.mask.intervals.begin() + row, p.mask.intervals.begin() + row + count);
  one.mask.queries.first_row = p.mask.queries.first_row + row;
  one.query = rows_of(p.query, row, count);
  one.key = rows_of(p.key, p.mask.keys.offset(b), p.mask.keys.length(b));
  one.value = rows_of(p.value, p.mask.keys.offset(b), p.mask.keys.length(b));
  return one;
}

}  // namespace

TEST_CASE("a sentence has the same bits alone and among others, dropout included") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (Problem p : every_kind()) {
      p.draw(type);
      const Result all = run(p);
      for (Index b = 0; b < p.mask.queries.count(); ++b) {
        const Problem one = alone(p, b);
        Tape tape({.seed = 3});
        const Var q = tape.variable(one.query), k = tape.variable(one.key), v = tape.variable(one.value);
        const Var out = attend(q, k, v, one.mask, one.options);
        const Index row = p.mask.queries.offset(b), count = p.mask.queries.length(b);
        const Tensor d = random_tensor(all.output.shape(), "gradient").converted(type);
        tape.backward(out, rows_of(d, row, count));
        check_same(out.value(), rows_of(all.output, row, count));
        check_same(tape.gradient(q), rows_of(all.d_query, row, count));
        const Index key_row = p.mask.keys.offset(b), keys = p.mask.keys.length(b);
        check_same(tape.gradient(k), rows_of(all.d_key, key_row, keys));
        check_same(tape.gradient(v), rows_of(all.d_value, key_row, keys));
      }
    }
}

TEST_CASE("a query has the same bits whichever other queries are asked") {
  for (const DType type : {DType::f32, DType::f64}) {
    Problem p = self({150});
    p.mask.causal = true;
    p.draw(type);
    const Tensor all = run(p).output;
    for (const Index t : {0, 1, 63, 64, 65, 149}) {
      Problem one = p;
      one.mask.queries = Sequences::of_lengths({1});
      one.mask.past = {t};
      one.query = rows_of(p.query, t, 1);
      Tape tape;
      check_same(attend(tape.constant(one.query), tape.constant(one.key), tape.constant(one.value), one.mask,
                        one.options)
                     .value(),
                 rows_of(all, t, 1));
    }
  }
}

TEST_CASE("what a query does not see changes no bit, even NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Problem p = self({100, 6});
    p.mask.causal = true;
    p.draw(type);
    Problem spoilt = p;
    spoilt.query = p.query.clone(), spoilt.key = p.key.clone(), spoilt.value = p.value.clone();
    for (const Tensor& x : {spoilt.query, spoilt.key, spoilt.value}) {
      x.row_view(70, 30).fill(nan);  // the later rows of the first sentence
      x.row_view(104, 2).fill(nan);
    }
    const Tensor a = run(p).output, b = run(spoilt).output;
    check_same(rows_of(a, 0, 70), rows_of(b, 0, 70));
    check_same(rows_of(a, 100, 4), rows_of(b, 100, 4));
    CHECK(std::isnan(rows_of(b, 70, 1).to_doubles().front()));  // but what is seen shows
  }
}

TEST_CASE("NaN in reserved rows and behind blind queries reaches no gradient") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Problem p = self({3, 3});
    p.mask.keys = Sequences::of_lengths({5, 5});
    p.mask.keys.lengths = {3, 4};
    p.mask.intervals = {{0, 2}, {1, 1}, {0, 2}, {1, 4}, {1, 4}, {2, 3}};
    p.draw(type);
    const Result clean = run(p);
    for (const Index row : {2, 3, 4, 5, 9})  // key rows that nobody sees
      p.key.row_view(row, 1).fill(nan), p.value.row_view(row, 1).fill(nan);
    p.query.row_view(1, 1).fill(nan);  // sees nothing
    const Result spoilt = run(p);
    check_same(clean.output, spoilt.output);
    check_same(clean.d_query, spoilt.d_query);
    check_same(clean.d_key, spoilt.d_key);
    check_same(clean.d_value, spoilt.d_value);
    for (const double x : rows_of(spoilt.output, 1, 1).to_doubles()) CHECK(x == 0);
    for (const double x : rows_of(spoilt.d_query, 1, 1).to_doubles()) CHECK(x == 0);
    for (const double x : rows_of(spoilt.d_key, 9, 1).to_doubles()) CHECK(x == 0);
  }
}

TEST_CASE("attend reads column views") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Problem p = self({20, 3});
    p.width = p.value_width = 16;
    p.draw(type);
    const Result plain = run(p);
    const Index columns = p.query.columns();
    const Tensor packed({p.query.rows(), 3 * columns}, type);
    packed.column_view(0, columns).copy_from(p.query);
    packed.column_view(columns, columns).copy_from(p.key);
    packed.column_view(2 * columns, columns).copy_from(p.value);
    Problem views = p;
    views.query = packed.column_view(0, columns), views.key = packed.column_view(columns, columns),
    views.value = packed.column_view(2 * columns, columns);
    const Result strided = run(views);
    check_same(plain.output, strided.output);
    check_same(plain.d_query, strided.d_query);
    check_same(plain.d_key, strided.d_key);
    check_same(plain.d_value, strided.d_value);
  }
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

TEST_CASE("rows outside all sentences give zeros and get no gradient") {
  Problem p = self({4, 3});
  p.draw(DType::f32);
  p.mask.queries.offsets = p.mask.keys.offsets = {1, 4, 6};
  const Result result = run(p);
  for (const Tensor& x : {result.output, result.d_query, result.d_key, result.d_value}) {
    for (const double value : rows_of(x, 0, 1).to_doubles()) CHECK(value == 0);
    for (const double value : rows_of(x, 6, 1).to_doubles()) CHECK(value == 0);
  }
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
