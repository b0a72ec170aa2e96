#include "ops/mean_rows.h"

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase means{"mean rows", [] {
                           return GradientCheck{[](Tape&, const auto& in) {
                                                  return mean_rows(in[0], Sequences::of_lengths({2, 0, 3}));
                                                },
                                                {random_tensor({5, 4}, "x")}};
                         }};
}  // namespace

TEST_CASE("each sentence gives the mean of its rows") {
  Tape tape;
  const Var x = tape.constant(Tensor::from({3, 2}, DType::f32, std::vector<double>{1, 2, 3, 4, 7, 8}));
  CHECK(mean_rows(x, Sequences::of_lengths({2, 0, 1})).value().to_doubles() ==
        std::vector<double>{2, 3, 0, 0, 7, 8});
  CHECK_THROWS_AS(mean_rows(x, Sequences::of_lengths({2})), ShapeError);
}
