#include "ops/repeat_heads.h"

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase repeated{"repeat heads", [] {
                              return GradientCheck{
                                  [](Tape&, const auto& in) { return repeat_heads(in[0], 2, 3); },
                                  {random_tensor({5, 8}, "x")}};
                            }};
}  // namespace

TEST_CASE("copies of a head lie next to each other") {
  Tape tape;
  const Var x = tape.constant(Tensor::from({1, 4}, DType::f32, std::vector<double>{1, 2, 3, 4}));
  CHECK(repeat_heads(x, 2, 2).value().to_doubles() == std::vector<double>{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(repeat_heads(x, 2, 1).value().raw() == x.value().raw());
  CHECK_THROWS_AS(repeat_heads(x, 3, 2), ShapeError);
}
