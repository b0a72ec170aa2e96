#include "ops/cross_entropy.h"

#include <cmath>

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
GradientCheck smoothed(double smoothing, SmoothingSupport support) {
  return {[=](Tape&, const auto& in) {
            return cross_entropy(in[0], {1, 4, 0}, {smoothing, support, 7}).loss;
          },
          {random_tensor({3, 5}, "logits")}};
}
const GradientCase plain{"cross-entropy", [] { return smoothed(0, SmoothingSupport::vocabulary); }};
const GradientCase over_all{"cross-entropy, smoothed",
                            [] { return smoothed(0.1, SmoothingSupport::vocabulary); }};
const GradientCase over_others{"cross-entropy, smoothed over others",
                               [] { return smoothed(0.1, SmoothingSupport::others); }};
}  // namespace

TEST_CASE("cross-entropy equals the definition for both supports of the smoothing") {
  const std::vector<double> logits{0.5, -1, 2, 0.1};
  double sum = 0;
  for (const double z : logits) sum += std::exp(z);
  const auto nll = [&](std::size_t j) { return std::log(sum) - logits[j]; };
  for (const auto support : {SmoothingSupport::vocabulary, SmoothingSupport::others}) {
    const bool all = support == SmoothingSupport::vocabulary;
    double expected = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const double spread = all ? 0.2 / 4 : (j == 2 ? 0 : 0.2 / 3);
      expected += ((j == 2 ? 0.8 : 0) + spread) * nll(j);
    }
    Tape tape;
    const auto result =
        cross_entropy(tape.constant(Tensor::from({1, 4}, DType::f64, logits)), {2}, {0.2, support, 2});
    CHECK(result.loss.value().to_doubles().front() == Approx(expected / 2));
    CHECK(result.nll_sum == Approx(nll(2)));
    CHECK(result.correct == 1);
  }
}

TEST_CASE("cross-entropy stays finite for huge logits") {
  Tape tape;
  const Var logits = tape.variable(Tensor::from({1, 3}, DType::f32, std::vector<double>{1e30, -1e30, 0}));
  const auto result = cross_entropy(logits, {0}, {});
  CHECK(result.nll_sum == Approx(0).margin(1e-6));
  tape.backward(result.loss);
  for (const double v : tape.gradient(logits).to_doubles()) CHECK(std::isfinite(v));
}
