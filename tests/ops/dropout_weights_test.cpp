#include "ops/dropout_weights.h"

#include "ops/attend.h"
#include "ops/dense.h"
#include "ops/elementwise.h"
#include "ops/pad.h"
#include "ops/softmax.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

const Dropout kHalf{0.5, 9};

const GradientCase dropped_case{"dropout of weights", [] {
                                  const Sequences queries = Sequences::of_lengths({3, 2}, 4);
                                  return GradientCheck{[queries](Tape&, const std::vector<Var>& in) {
                                                         return dropout_weights(in[0], queries, kHalf);
                                                       },
                                                       {random_tensor({2, 2, 3, 11}, "weights")}};
                                }};

}  // namespace

TEST_CASE("attention composed of dense ops with dropout equals the ragged kernel") {
  Mask mask;
  mask.queries = Sequences::of_lengths({4, 1, 13}, 6);
  mask.keys = Sequences::of_lengths({4, 9, 20});
  Tape tape({.seed = 3});
  const Var query = tape.constant(random_tensor({18, 6}, "query"));
  const Var key = tape.constant(random_tensor({33, 6}, "key"));
  const Var value = tape.constant(random_tensor({33, 4}, "value"));
  const Var ragged = attend(query, key, value, mask, {2, 0.6, kHalf.rate, kHalf.stream});
  const Var logits =
      scale(batched_matmul(pad(query, mask.queries, 2), pad(key, mask.keys, 2), false, true), 0.6);
  const Var weights = dropout_weights(masked_softmax(logits, mask), mask.queries, kHalf);
  const auto dense =
      unpad(batched_matmul(weights, pad(value, mask.keys, 2)), mask.queries).value().to_doubles();
  const auto expected = ragged.value().to_doubles();
  for (std::size_t i = 0; i < dense.size(); ++i) CHECK(dense[i] == Approx(expected[i]).margin(1e-13));
}

TEST_CASE("dropout of weights is off outside training and refuses what does not fit") {
  Tape tape({.training = false});
  const Var weights = tape.constant(random_tensor({1, 1, 2, 3}, "weights"));
  CHECK(dropout_weights(weights, Sequences::of_lengths({2}), kHalf).value().raw() == weights.value().raw());
  CHECK_THROWS_AS(dropout_weights(weights, Sequences::of_lengths({2, 2}), kHalf), ShapeError);
  CHECK_THROWS_AS(dropout_weights(weights, Sequences::of_lengths({2}), Dropout{1, 9}), ShapeError);
}
