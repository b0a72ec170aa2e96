#include "core/tensor.h"

#include <cmath>
#include <limits>

#include "core/mask.h"
#include "core/pool.h"
#include "support/catch.h"

using namespace attnlab;

TEST_CASE("bfloat16 rounds to nearest even and keeps NaN and infinity") {
  CHECK(float(bfloat16(1.0F)) == 1.0F);
  CHECK(float(bfloat16(1.00390625F)) == 1.0F);       // halfway, even below
  CHECK(float(bfloat16(1.01171875F)) == 1.015625F);  // halfway, even above
  CHECK(std::isnan(float(bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isinf(float(bfloat16(std::numeric_limits<float>::infinity()))));
}

TEST_CASE("views share memory, copies do not, conversion goes through every type") {
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    const Tensor x = Tensor::from({2, 3}, type, numbers);
    const Tensor right = x.column_view(1, 2);
    CHECK_FALSE(right.contiguous());
    CHECK(right.to_doubles() == std::vector<double>{2, 3, 5, 6});
    CHECK(x.row_view(1, 1).to_doubles() == std::vector<double>{4, 5, 6});
    const Tensor copy = right.clone();
    right.fill(0);
    CHECK(x.to_doubles() == std::vector<double>{1, 0, 0, 4, 0, 0});
    CHECK(copy.converted(DType::f32).to_doubles() == std::vector<double>{2, 3, 5, 6});
    accumulate(copy, right);
    CHECK(x.to_doubles() == numbers);
    CHECK(x.reshaped({3, 2}).to_doubles() == numbers);
    CHECK_THROWS_AS(x.reshaped({4, 2}), ShapeError);
    CHECK_THROWS_AS(x.column_view(2, 2), ShapeError);
  }
}

TEST_CASE("the pool hands blocks out again") {
  auto& pool = Pool::global();
  { const Tensor first({12345}, DType::f32); }
  const auto before = pool.counters();
  { const Tensor second({12345}, DType::f32); }
  const auto after = pool.counters();
  CHECK(after.misses == before.misses);
  CHECK(after.hits == before.hits + 1);
  CHECK(after.live_bytes == before.live_bytes);
}

TEST_CASE("a shorter batch lives in the blocks of a longer one, a much shorter one does not") {
  auto& pool = Pool::global();
  pool.release_cached();
  { const Tensor longer({40000}, DType::f32); }
  const auto before = pool.counters();
  { const Tensor shorter({23000}, DType::f32); }
  CHECK(pool.counters().misses == before.misses);
  CHECK(pool.counters().live_bytes == before.live_bytes);
  CHECK(pool.counters().cached_bytes == before.cached_bytes);
  { const Tensor tiny({100}, DType::f32); }
  CHECK(pool.counters().misses == before.misses + 1);
}

TEST_CASE("a mask is the meeting of lengths, causality, band and explicit intervals") {
  Mask mask;
  mask.queries = mask.keys = Sequences::of_lengths({3, 5});
  CHECK(mask.visible(1, 2).count() == 5);
  mask.causal = true;
  CHECK(mask.visible(1, 2).end == 3);
  mask.band = 1;
  CHECK(mask.visible(1, 2).begin == 1);
  mask.past = {0, 2};
  CHECK(mask.visible(1, 2).begin == 3);
  CHECK(mask.visible(1, 2).end == 5);
  mask.intervals.assign(8, {4, 4});
  CHECK(mask.visible(1, 2).empty());
}
