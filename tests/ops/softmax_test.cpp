#include "ops/softmax.h"

#include "core/parallel.h"
#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

Mask padded_mask() {  // three sentences; the second query of the first sees nothing
  Mask mask;
  mask.queries = Sequences::of_lengths({2, 4, 1});
  mask.keys = Sequences::of_lengths({3, 5, 2});
  mask.intervals = {{0, 3}, {1, 1}, {0, 5}, {2, 4}, {0, 1}, {1, 5}, {0, 2}};
  return mask;
}

Mask causal_mask(Index length) {
  Mask mask;
  mask.queries = mask.keys = Sequences::equal(2, length);
  mask.causal = true;
  return mask;
}

GradientCheck masked(const Mask& mask, const Shape& shape) {
  return {[mask](Tape&, const auto& in) { return masked_softmax(in[0], mask); },
          {random_tensor(shape, "logits")}};
}
GradientCheck plain(const Shape& shape) {
  return {[](Tape&, const auto& in) { return softmax(in[0]); }, {random_tensor(shape, "logits")}};
}
GradientCheck zeroed(const Mask& mask, const Shape& shape) {
  return {[mask](Tape&, const auto& in) { return apply_mask(in[0], mask); }, {random_tensor(shape, "x")}};
}

const GradientCase kPlain{"softmax", [] { return plain({3, 2, 7}); }};
const GradientCase kMasked{"masked softmax", [] { return masked(padded_mask(), {3, 2, 4, 6}); }};
const GradientCase kCausal{"masked softmax, causal", [] { return masked(causal_mask(5), {2, 3, 5, 5}); }};
const GradientCase kZeroed{"apply mask", [] { return zeroed(padded_mask(), {3, 2, 5, 5}); }};

}  // namespace

TEST_CASE("masked softmax weighs visible keys only") {
  Tape tape;
  const Mask mask = padded_mask();
  const Tensor logits = random_tensor({3, 2, 4, 6}, "logits");
  for (Index i = 0; i < logits.count(); i += 3) logits.data<double>()[i] *= 100;
  const auto y = masked_softmax(tape.constant(logits), mask).value().to_doubles();
  for (Index row = 0; row < 24; ++row) {
    const Index b = row / 8, t = row % 4;
    const Interval seen = t < mask.queries.length(b) ? mask.visible(b, t) : Interval{};
    double sum = 0;
    for (Index s = seen.begin; s < seen.end; ++s) sum += std::exp(logits.data<double>()[row * 6 + s]);
    for (Index s = 0; s < 6; ++s) {
      const double weight = y[static_cast<std::size_t>(row * 6 + s)];
      if (s < seen.begin || s >= seen.end)
        CHECK(weight == 0);
      else
        CHECK(weight == Approx(std::exp(logits.data<double>()[row * 6 + s]) / sum).epsilon(1e-10));
    }
  }
}

TEST_CASE("what stands in invisible places changes no bit, forward and backward") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    std::vector<std::vector<double>> results;
    for (const double filler : {0.0, 1e30, double(NAN)}) {
      Tape tape;
      const Mask mask = padded_mask();
      const Tensor logits = random_tensor({3, 1, 5, 7}, "logits");
      for (Index row = 0; row < 15; ++row) {
        const Index b = row / 5, t = row % 5;
        const Interval seen = t < mask.queries.length(b) ? mask.visible(b, t) : Interval{};
        for (Index s = 0; s < 7; ++s)
          if (s < seen.begin || s >= seen.end) logits.data<double>()[row * 7 + s] = filler;
      }
      const Var x = tape.variable(logits.converted(type)), y = masked_softmax(x, mask);
      results.push_back(y.value().to_doubles());
      tape.backward(y, random_tensor(y.shape(), "dy", type));
      const auto dx = tape.gradient(x).to_doubles();
      results.back().insert(results.back().end(), dx.begin(), dx.end());
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
    for (std::size_t s = 0; s < 7; ++s) CHECK((results[0][7 + s] == 0 && results[0][105 + 7 + s] == 0));
  }
}

TEST_CASE("a sentence gets the same weights alone and in a wider tensor") {
  Tape tape;
  const Tensor logits = random_tensor({2, 1, 19, 19}, "logits", DType::f32);
  const Tensor wide = Tensor::zeros({2, 1, 21, 40}, DType::f32);
  for (Index row = 0; row < 38; ++row)
    std::copy_n(logits.data<float>() + row * 19, 19, wide.data<float>() + (row / 19 * 21 + row % 19) * 40);
  const auto narrow_y = masked_softmax(tape.constant(logits), causal_mask(19)).value().to_doubles();
  const auto wide_y = masked_softmax(tape.constant(wide), causal_mask(19)).value().to_doubles();
  for (Index row = 0; row < 38; ++row)
    for (Index s = 0; s < 19; ++s)
      CHECK(narrow_y[static_cast<std::size_t>(row * 19 + s)] ==
            wide_y[static_cast<std::size_t>((row / 19 * 21 + row % 19) * 40 + s)]);
}

TEST_CASE("softmax in f32 and bf16 stays near f64 at odd sizes") {
  for (const Shape& shape : {Shape{1}, Shape{3, 7}, Shape{2, 5, 131}}) {
    CHECK(distance_from_f64(DType::f32, plain(shape)) < 2e-6);
    CHECK(distance_from_f64(DType::bf16, plain(shape)) < 0.02);
  }
  CHECK(distance_from_f64(DType::f32, masked(causal_mask(33), {2, 3, 33, 33})) < 2e-6);
  CHECK(distance_from_f64(DType::bf16, masked(causal_mask(33), {2, 3, 33, 33})) < 0.02);
  CHECK(distance_from_f64(DType::bf16, zeroed(causal_mask(33), {2, 3, 33, 33})) == 0);
}

TEST_CASE("softmax has the same bits for any number of threads") {
  const int before = thread_count();
  std::vector<std::vector<std::vector<double>>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    results.push_back(detail::evaluate_in(DType::f32, DType::f32, plain({3, 41, 130})));
  }
  set_thread_count(before);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("a mask that does not fit is refused") {
  Tape tape;
  const Var x = tape.constant(random_tensor({3, 2, 4, 4}, "x"));
  CHECK_THROWS_WITH(masked_softmax(x, padded_mask()),
                    "masked softmax: (3,2,4,4) for a mask of 3 sentences, up to 4 queries and 5 keys");
}
