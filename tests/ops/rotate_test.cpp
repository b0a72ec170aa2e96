#include "ops/rotate.h"

#include <cmath>

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {

Rotation rotation_of(RotaryPairs pairs, DType type = DType::f64) {
  return {2, pairs, rotary_angles(9, 6, 100, type), {0, 3, 8, 1}};
}

GradientCase gradient_of(const char* name, RotaryPairs pairs) {
  return {name, [pairs] {
            return GradientCheck{[pairs](Tape&, const auto& in) { return rotate(in[0], rotation_of(pairs)); },
                                 {random_tensor({4, 12}, "x")}};
          }};
}
const GradientCase neighbours = gradient_of("rotate neighbours", RotaryPairs::neighbours);
const GradientCase halves = gradient_of("rotate halves", RotaryPairs::halves);

double dot(const Tensor& rows, Index a, Index b, Index first, Index K) {
  const auto x = rows.to_doubles();
  double sum = 0;
  for (Index k = first; k < first + K; ++k)
    sum += x[static_cast<std::size_t>(a * rows.columns() + k)] *
           x[static_cast<std::size_t>(b * rows.columns() + k)];
  return sum;
}

}  // namespace

TEST_CASE("rotation turns pair i by position times base to the power -2i/K") {
  for (const RotaryPairs pairs : {RotaryPairs::neighbours, RotaryPairs::halves}) {
    Tape tape;
    const Tensor x = random_tensor({4, 12}, "x");
    const auto in = x.to_doubles(), out = rotate(tape.constant(x), rotation_of(pairs)).value().to_doubles();
    const std::vector<double> places{0, 3, 8, 1};
    for (std::size_t n = 0; n < 4; ++n)
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t i = 0; i < 3; ++i) {
          const std::size_t row = n * 12 + h * 6;
          const std::size_t a = row + (pairs == RotaryPairs::halves ? i : 2 * i);
          const std::size_t b = pairs == RotaryPairs::halves ? a + 3 : a + 1;
          const double angle = places[n] * std::pow(100.0, -2.0 * static_cast<double>(i) / 6);
          CHECK(out[a] == Approx(in[a] * std::cos(angle) - in[b] * std::sin(angle)).margin(1e-12));
          CHECK(out[b] == Approx(in[a] * std::sin(angle) + in[b] * std::cos(angle)).margin(1e-12));
        }
  }
}

TEST_CASE("dot products of rotated rows depend on the distance of their places") {
  Tape tape;
  const Tensor one = random_tensor({1, 6}, "one"), two = random_tensor({1, 6}, "two");
  const Tensor x({4, 6}, DType::f64);
  for (Index row = 0; row < 4; ++row) x.row_view(row, 1).copy_from(row % 2 == 0 ? one : two);
  const Rotation rotation{1, RotaryPairs::halves, rotary_angles(40, 6, 10000, DType::f64), {2, 7, 31, 36}};
  const Tensor y = rotate(tape.constant(x), rotation).value();
  CHECK(dot(y, 0, 1, 0, 6) == Approx(dot(y, 2, 3, 0, 6)));
  CHECK(dot(y, 0, 1, 0, 6) != Approx(dot(y, 1, 2, 0, 6)));
}

TEST_CASE("rotation in narrow types follows f64; what does not fit is refused") {
  for (const DType type : {DType::f32, DType::bf16}) {
    Tape tape;
    const auto wide = rotate(tape.constant(random_tensor({4, 12}, "x")), rotation_of(RotaryPairs::halves))
                          .value()
                          .to_doubles();
    const auto narrow =
        rotate(tape.constant(random_tensor({4, 12}, "x", type)), rotation_of(RotaryPairs::halves, DType::f32))
            .value()
            .to_doubles();
    for (std::size_t i = 0; i < wide.size(); ++i) CHECK(narrow[i] == Approx(wide[i]).margin(0.03));
  }
  Tape tape;
  const Var x = tape.constant(random_tensor({4, 12}, "x"));
  Rotation far = rotation_of(RotaryPairs::halves);
  far.places = {0, 1, 2, 9};
  CHECK_THROWS_AS(rotate(x, far), ShapeError);
  CHECK_THROWS_AS(rotary_angles(3, 5, 100, DType::f64), ShapeError);
}
