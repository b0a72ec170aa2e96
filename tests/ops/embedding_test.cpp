#include "ops/embedding.h"

#include "ops/linear.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase repeated{"embedding", [] {
                              return GradientCheck{[](Tape&, const auto& in) {
                                                     return embedding(in[0], {2, 0, 2, 3, 2}, 1.5);
                                                   },
                                                   {random_tensor({5, 3}, "table")}};
                            }};
// The table is a column block of a wider matrix, and so is its gradient.
const GradientCase strided{
    "embedding from a column block", [] {
      return GradientCheck{
          [](Tape&, const auto& in) {
            return embedding(linear_group(in[0], {in[1], in[2]})[1], {2, 0, 2, 3, 2}, 1.5);
          },
          {random_tensor({5, 3}, "x"), random_tensor({4, 3}, "q"), random_tensor({2, 3}, "k")}};
    }};
}  // namespace

TEST_CASE("embedding reads rows of a column block") {
  Tape tape;
  const Tensor wide = Tensor::from({2, 3}, DType::f32, std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(embedding(tape.constant(wide.column_view(1, 2)), {1, 0}, 1).value().to_doubles() ==
        std::vector<double>{5, 6, 2, 3});
}

TEST_CASE("embedding reads rows and refuses ids outside the table") {
  Tape tape;
  const Var table = tape.constant(Tensor::from({2, 2}, DType::f32, std::vector<double>{1, 2, 3, 4}));
  CHECK(embedding(table, {1, 0}, 2).value().to_doubles() == std::vector<double>{6, 8, 2, 4});
  CHECK_THROWS_WITH(embedding(table, {2}, 1), "embedding: id 2 in a table of 2 rows");
}
