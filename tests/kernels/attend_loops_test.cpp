#include "kernels/attend_loops.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "support/catch.h"

using namespace attnlab;
using namespace attnlab::kernels::detail;

namespace {

constexpr Index kRoom = 64;

// exp(x) as softmax computes it, where the largest score so far is 0.
template <class T>
std::vector<T> exponentials(std::vector<T> scores) {
  const auto& loops = attend_loops<T>();
  const Index lanes = loops.lanes, keys = static_cast<Index>(scores.size());
  std::vector<T> block(static_cast<std::size_t>(keys * lanes)), maximum(kRoom, T{}), sum(kRoom),
      rescale(kRoom);
  for (Index s = 0; s < keys; ++s)
    for (Index t = 0; t < lanes; ++t)
      block[static_cast<std::size_t>(s * lanes + t)] =
          scores[static_cast<std::size_t>(s)] * loops.score_factor;
  const std::vector<std::int32_t> begin(kRoom, 0), end(kRoom, static_cast<std::int32_t>(keys));
  loops.softmax({block.data(), nullptr, keys, lanes, 0, begin.data(), end.data(), false, {}}, maximum.data(),
                sum.data(), rescale.data());
  for (Index s = 0; s < keys; ++s)
    scores[static_cast<std::size_t>(s)] = block[static_cast<std::size_t>(s * lanes)];
  return scores;
}

}  // namespace

TEST_CASE("the exponential of attention is right over its range") {
  std::vector<float> x;
  for (int i = 0; i < 4000; ++i) x.push_back(-0.0217F * static_cast<float>(i));
  const auto y = exponentials(x);
  const float factor = attend_loops<float>().score_factor;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp2(static_cast<double>(x[i] * factor));
    CHECK(std::abs(static_cast<double>(y[i]) - exact) <= 2.4e-7 * exact + 1.2e-38);
  }
}

TEST_CASE("the exponential of attention keeps NaN, and minus infinity gives zero") {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const auto y = exponentials<float>({0, -infinity, -1e30F, nan, -87});
  CHECK(y[0] == 1);
  CHECK(y[1] == 0);
  CHECK(y[2] == 0);
  CHECK(std::isnan(y[3]));
  CHECK(y[4] > 0);
  const auto wide = exponentials<double>({0, -static_cast<double>(infinity), -1});
  CHECK(wide[0] == 1);
  CHECK(wide[1] == 0);
  CHECK(wide[2] == std::exp(-1.0));
}

TEST_CASE("random blocks drawn side by side are those of Random") {
  const Random random(7, stream_name("attention"), (std::uint64_t{5} << 32) + 9);
  const auto& loops = attend_loops<float>();
  std::vector<std::uint64_t> base(kRoom);
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = (std::uint64_t{i} * 8191 + 3) << 20;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(4 * 3 * kRoom));
  loops.draw(random.key(), random.step(), base.data(), kRoom, 17, 3, words.data());
  for (std::size_t t = 0; t < base.size(); ++t)
    for (std::size_t g = 0; g < 3; ++g) {
      const auto expected = random.block(base[t] + 17 + g);
      for (std::size_t i = 0; i < 4; ++i) CHECK(words[(g * 4 + i) * kRoom + t] == expected[i]);
    }
}

TEST_CASE("blocks are transposed with zeros beyond their rows") {
  const auto check_type = [](auto zero) {
    using T = decltype(zero);
    const auto& loops = attend_loops<T>();
    const Index columns = 2 * loops.lanes, out_row = 3 * loops.lanes, rows = out_row - 5,
                stride = columns + 7;
    std::vector<T> in(static_cast<std::size_t>(rows * stride)),
        out(static_cast<std::size_t>(columns * out_row), T{9});
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
    loops.transpose(in.data(), stride, rows, columns, T{2}, out.data(), out_row);
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < out_row; ++i)
        REQUIRE(out[static_cast<std::size_t>(j * out_row + i)] ==
                (i < rows ? 2 * in[static_cast<std::size_t>(i * stride + j)] : T{}));
  };
  check_type(float{});
  check_type(double{});
}

TEST_CASE("products of any size are chains of multiply-adds") {
  const auto& loops = attend_loops<double>();
  for (Index rows = 1; rows <= 35; ++rows)
    for (const Index columns : {loops.lanes, 3 * loops.lanes}) {
      const Index depth = rows % 5 + 1;
      std::vector<double> a(static_cast<std::size_t>(rows * depth)),
          b(static_cast<std::size_t>(depth * columns));
      std::vector<double> c(static_cast<std::size_t>(rows * columns), 0.5);
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7) - 3;
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i % 11) - 5;
      std::vector<double> skipped = c;
      loops.product({a.data(), 1, rows, b.data(), columns, c.data(), columns, rows, columns, depth, true});
      loops.product_skipping_zeros(
          {a.data(), 1, rows, b.data(), columns, skipped.data(), columns, rows, columns, depth, true});
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
          double sum = 0.5;
          for (Index k = 0; k < depth; ++k)
            sum += a[static_cast<std::size_t>(k * rows + i)] * b[static_cast<std::size_t>(k * columns + j)];
          REQUIRE(c[static_cast<std::size_t>(i * columns + j)] == sum);
        }
      REQUIRE(skipped == c);
    }
}

TEST_CASE("rows in bf16 are read exactly and written rounded to nearest") {
  const auto& loops = attend_loops<float>();
  const Index width = loops.lanes + 3, padded = 2 * loops.lanes;
  std::vector<float> rows(static_cast<std::size_t>(padded)), back(rows.size(), 9.0F);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i)) * 100;
  rows[1] = std::numeric_limits<float>::quiet_NaN();
  rows[2] = std::numeric_limits<float>::infinity();
  std::vector<bfloat16> narrow(static_cast<std::size_t>(width));
  const float half = 0.5F;
  loops.store(rows.data(), padded, 1, width, 2.0F, &half, narrow.data(), DType::bf16, width, false);
  loops.load(narrow.data(), DType::bf16, width, 1, width, padded, back.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 1) {
      CHECK(std::isnan(back[i]));
      continue;
    }
    CHECK(back[i] == (i < static_cast<std::size_t>(width) ? static_cast<float>(bfloat16(rows[i])) : 0.0F));
  }
}
