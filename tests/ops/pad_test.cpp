#include "ops/pad.h"

#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

const Sequences kThree = Sequences::of_lengths({2, 5, 1});

const GradientCase padding{"pad", [] {
                             return GradientCheck{[](Tape&, const auto& in) { return pad(in[0], kThree, 3); },
                                                  {random_tensor({8, 6}, "rows")}};
                           }};
const GradientCase unpadding{"unpad", [] {
                               return GradientCheck{
                                   [](Tape&, const auto& in) { return unpad(in[0], kThree); },
                                   {random_tensor({3, 2, 6, 3}, "dense")}};
                             }};

}  // namespace

TEST_CASE("pad splits heads, zeroes the rest, and unpad takes it back to the bit") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Tape tape;
    const Tensor wide = random_tensor({8, 10}, "wide", type), rows = wide.column_view(3, 6);
    const Var dense = pad(tape.constant(rows), kThree, 2);
    REQUIRE(dense.shape() == Shape{3, 2, 5, 3});
    const auto values = dense.value().to_doubles(), source = rows.to_doubles();
    for (Index b = 0; b < 3; ++b)
      for (Index h = 0; h < 2; ++h)
        for (Index t = 0; t < 5; ++t)
          for (Index k = 0; k < 3; ++k) {
            const Index row = kThree.offset(b) + t;
            const double expected =
                t < kThree.length(b) ? source[static_cast<std::size_t>(row * 6 + h * 3 + k)] : 0;
            CHECK(values[static_cast<std::size_t>(((b * 2 + h) * 5 + t) * 3 + k)] == expected);
          }
    CHECK(unpad(dense, kThree).value().to_doubles() == source);
  }
}

TEST_CASE("rows reserved ahead are neither read nor written") {
  Sequences reserved = Sequences::of_lengths({3, 3});
  reserved.lengths = {1, 2};
  Tape tape;
  const Var rows = tape.constant(random_tensor({6, 2}, "rows"));
  const Var dense = pad(rows, reserved, 1);
  CHECK(dense.shape() == Shape{2, 1, 2, 2});
  const auto back = unpad(dense, reserved).value().to_doubles(), given = rows.value().to_doubles();
  for (std::size_t i = 0; i < 12; ++i)
    CHECK(back[i] == ((i / 2 == 0 || i / 2 == 3 || i / 2 == 4) ? given[i] : 0));
}

TEST_CASE("the token mask marks tokens") {
  CHECK(token_mask(Sequences::of_lengths({1, 3}), DType::bf16).to_doubles() ==
        std::vector<double>{1, 0, 0, 1, 1, 1});
  CHECK(token_mask(kThree, DType::f32).shape() == Shape{3, 1, 5, 1});
}

TEST_CASE("pad and unpad refuse what does not fit") {
  Tape tape;
  const Var rows = tape.constant(random_tensor({8, 6}, "rows"));
  CHECK_THROWS_WITH(pad(rows, kThree, 4), "pad: 4 heads in 6 columns");
  CHECK_THROWS_AS(pad(rows, Sequences::of_lengths({9}), 2), ShapeError);
  CHECK_THROWS_AS(unpad(tape.constant(random_tensor({3, 1, 4, 2}, "dense")), kThree), ShapeError);
}
