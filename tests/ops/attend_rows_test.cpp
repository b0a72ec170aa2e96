// Which rows of a batch may touch which: alone and among others, NaN out of sight, views, rows outside all
// sentences.
#include "core/parallel.h"
#include "ops/attend.h"
#include "ops/attend_problems.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;
using namespace attnlab::attend_problems;

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
      const AttentionResult all = run(p);
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

// Few queries put keys into the lanes of a vector, many put queries there.
TEST_CASE("few queries have the bits that they have among many") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (const Index width : {3, 16, 64, 80})
      for (const Index keys : {1, 3, 17, 63, 65, 130}) {
        Problem many = self({40, 40});
        many.mask.keys = Sequences::of_lengths({keys, keys});
        many.width = many.value_width = width;
        many.draw(type);
        const Tensor all = run(many).output;
        for (const Index count : {1, 2, 5, 10}) {
          Problem few = many;
          few.mask.queries = Sequences::of_lengths({0, count});
          few.query = rows_of(many.query, 40, count);
          const AttentionResult result = run(few);
          check_same(result.output, rows_of(all, 40, count));
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
    const AttentionResult clean = run(p);
    for (const Index row : {2, 3, 4, 5, 9})  // key rows that nobody sees
      p.key.row_view(row, 1).fill(nan), p.value.row_view(row, 1).fill(nan);
    p.query.row_view(1, 1).fill(nan);  // sees nothing
    const AttentionResult spoilt = run(p);
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
    const AttentionResult plain = run(p);
    const Index columns = p.query.columns();
    const Tensor packed({p.query.rows(), 3 * columns}, type);
    packed.column_view(0, columns).copy_from(p.query);
    packed.column_view(columns, columns).copy_from(p.key);
    packed.column_view(2 * columns, columns).copy_from(p.value);
    Problem views = p;
    views.query = packed.column_view(0, columns), views.key = packed.column_view(columns, columns),
    views.value = packed.column_view(2 * columns, columns);
    const AttentionResult strided = run(views);
    check_same(plain.output, strided.output);
    check_same(plain.d_query, strided.d_query);
    check_same(plain.d_key, strided.d_key);
    check_same(plain.d_value, strided.d_value);
  }
}

TEST_CASE("rows outside all sentences give zeros and get no gradient") {
  Problem p = self({4, 3});
  p.draw(DType::f32);
  p.mask.queries.offsets = p.mask.keys.offsets = {1, 4, 6};
  const AttentionResult result = run(p);
  for (const Tensor& x : {result.output, result.d_query, result.d_key, result.d_value}) {
    for (const double value : rows_of(x, 0, 1).to_doubles()) CHECK(value == 0);
    for (const double value : rows_of(x, 6, 1).to_doubles()) CHECK(value == 0);
  }
}
