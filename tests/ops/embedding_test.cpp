#include "ops/embedding.h"

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
}  // namespace

TEST_CASE("embedding reads rows and refuses ids outside the table") {
  Tape tape;
  const Var table = tape.constant(Tensor::from({2, 2}, DType::f32, std::vector<double>{1, 2, 3, 4}));
  CHECK(embedding(table, {1, 0}, 2).value().to_doubles() == std::vector<double>{6, 8, 2, 4});
  CHECK_THROWS_WITH(embedding(table, {2}, 1), "embedding: id 2 in a table of 2 rows");
}
