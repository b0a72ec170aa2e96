#include "ops/cross_entropy.h"
#include "ops/linear.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

struct Sizes {
  Index rows, width, words;
};

std::vector<std::int32_t> labels_of(Sizes sizes) {
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < sizes.rows; ++i) labels.push_back(static_cast<std::int32_t>(i * 7 % sizes.words));
  return labels;
}

GradientCheck problem(Sizes sizes, bool fused, bool bias = true,
                      SmoothingSupport support = SmoothingSupport::vocabulary) {
  std::vector<Tensor> inputs{random_tensor({sizes.rows, sizes.width}, "x"),
                             random_tensor({sizes.words, sizes.width}, "w")};
  if (bias) inputs.push_back(random_tensor({sizes.words}, "b"));
  return {[=](Tape&, const auto& v) {
            const CrossEntropyOptions options{0.1, support, 7};
            const Var b = v.size() > 2 ? v[2] : Var();
            return fused ? projected_cross_entropy(v[0], v[1], b, labels_of(sizes), options).loss
                         : cross_entropy(linear(v[0], v[1], b), labels_of(sizes), options).loss;
          },
          inputs};
}

const GradientCase whole{"projected cross-entropy", [] { return problem({5, 3, 17}, true); }};
const GradientCase others{"projected cross-entropy, smoothed over others", [] {
                            return problem({5, 3, 17}, true, false, SmoothingSupport::others);
                          }};
const GradientCase rows_alone{"projected cross-entropy of frozen weights", [] {
                                return GradientCheck{
                                    [](Tape& tape, const auto& v) {
                                      const Var w = tape.constant(random_tensor({9, 3}, "w"));
                                      return projected_cross_entropy(v[0], w, {}, {1, 8, 0, 3}, {0.1}).loss;
                                    },
                                    {random_tensor({4, 3}, "x")}};
                              }};

void compare(const GradientCheck& one, const GradientCheck& two, DType type) {
  const double allowed = type == DType::bf16 ? 0x1p-6 : type == DType::f32 ? 1e-5 : 1e-12;
  CHECK(distance_of_twins(type, one, two) <= allowed);
}

}  // namespace

TEST_CASE("projected cross-entropy equals the product and the cross-entropy, values and gradients") {
  for (const DType type : {DType::f64, DType::f32, DType::bf16}) {
    for (const Index size : {1, 3, 17, 63, 65}) {
      INFO(to_string(type) << ", size " << size);
      compare(problem({size, 65, size + 1}, true), problem({size, 65, size + 1}, false), type);
      compare(problem({65, size, 63}, true, false), problem({65, size, 63}, false, false), type);
    }
    compare(problem({600, 5, 9}, true), problem({600, 5, 9}, false), type);  // several tiles
  }
}

TEST_CASE("sums of the projected cross-entropy are the same while nothing trains, and no logits stay") {
  const Sizes sizes{600, 5, 2000};
  const Tensor x = random_tensor({sizes.rows, sizes.width}, "x", DType::f32),
               w = random_tensor({sizes.words, sizes.width}, "w", DType::f32);
  Tape tape({.training = false});
  const auto expected = cross_entropy(linear(tape.constant(x), tape.constant(w)), labels_of(sizes), {0.1});
  const auto got = projected_cross_entropy(tape.constant(x), tape.constant(w), {}, labels_of(sizes), {0.1});
  CHECK(got.nll_sum == Approx(expected.nll_sum).epsilon(1e-6));
  CHECK(got.smoothed_sum == Approx(expected.smoothed_sum).epsilon(1e-6));
  CHECK(got.correct == expected.correct);
}

TEST_CASE("frozen weights leave a gradient of the rows behind, equal to that with weights that train") {
  const Sizes sizes{300, 17, 65};
  const auto gradient = [&](bool trains) {
    Tape tape;
    const Var x = tape.variable(random_tensor({sizes.rows, sizes.width}, "x", DType::f32));
    const Tensor w = random_tensor({sizes.words, sizes.width}, "w", DType::f32);
    tape.backward(projected_cross_entropy(x, trains ? tape.variable(w) : tape.constant(w), {},
                                          labels_of(sizes), {0.1, SmoothingSupport::vocabulary, 7})
                      .loss);
    return tape.gradient(x).to_doubles();
  };
  const auto one = gradient(true), two = gradient(false);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == Approx(two[i]).epsilon(1e-5).margin(1e-6));
}
