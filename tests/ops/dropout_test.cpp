#include "ops/dropout.h"

#include <cmath>

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase plain{"dropout", [] {
                           return GradientCheck{[](Tape&, const auto& in) {
                                                  return dropout(in[0], {0.4, 3}, 7);
                                                },
                                                {random_tensor({4, 11}, "x")}};
                         }};
const GradientCase residual{"residual sum", [] {
                              return GradientCheck{
                                  [](Tape&, const auto& in) {
                                    return residual_sum(in[0], in[1], 0.5, {0.4, 3}, 7);
                                  },
                                  {random_tensor({4, 11}, "x"), random_tensor({4, 11}, "y")}};
                            }};
const GradientCase same{"residual sum of one value", [] {
                          return GradientCheck{
                              [](Tape&, const auto& in) { return residual_sum(in[0], in[0], 1, {}, 0); },
                              {random_tensor({4, 11}, "x")}};
                        }};

std::vector<double> dropped(const TapeOptions& options, Index rows, Index first_row) {
  Tape tape(options);
  return dropout(tape.constant(Tensor::filled({rows, 13}, DType::f64, 1)), {0.3, 9}, first_row)
      .value()
      .to_doubles();
}
}  // namespace

TEST_CASE("dropout keeps the mean and drops the stated share") {
  const auto values = dropped({}, 2000, 0);
  double sum = 0, zeros = 0;
  for (const double v : values) {
    sum += v;
    zeros += v == 0;
  }
  const auto count = static_cast<double>(values.size());
  CHECK(sum / count == Approx(1).margin(0.02));
  CHECK(zeros / count == Approx(0.3).margin(0.01));
}

TEST_CASE("masks depend on the row in the window, not on the cut into micro-batches") {
  auto whole = dropped({}, 6, 0);
  auto first = dropped({}, 2, 0);
  const auto rest = dropped({}, 4, 2);
  first.insert(first.end(), rest.begin(), rest.end());
  CHECK(whole == first);
  CHECK(whole != dropped({.step = 1}, 6, 0));
  CHECK(whole != dropped({.seed = 1}, 6, 0));
}

TEST_CASE("outside training dropout is the identity") {
  CHECK(dropped({.training = false}, 2, 0) == std::vector<double>(26, 1.0));
}
