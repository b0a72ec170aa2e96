#include "ops/rms_norm.h"

#include <cmath>

#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
const GradientCase affine{
    "rms norm", [] {
      return GradientCheck{
          [](Tape&, const auto& in) { return rms_norm(in[0], in[1], in[2], 1e-5); },
          {random_tensor({70, 5}, "x"), random_tensor({5}, "gain"), random_tensor({5}, "bias")}};
    }};
const GradientCase plain{"rms norm without gain", [] {
                           return GradientCheck{
                               [](Tape&, const auto& in) { return rms_norm(in[0], {}, {}, 1e-5); },
                               {random_tensor({3, 5}, "x")}};
                         }};
}  // namespace

TEST_CASE("rms norm gives rows whose mean square is that of the gain, in every type, strided or not") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Tape tape;
    const Index D = 37;
    const Tensor wide = random_tensor({3, D + 4}, "x", type);
    const Var y = rms_norm(tape.constant(wide.column_view(2, D)), tape.constant(Tensor::filled({D}, type, 2)),
                           {}, 1e-12);
    const auto values = y.value().to_doubles(), given = wide.to_doubles();
    double squares = 0, in_squares = 0;
    for (Index j = 0; j < D; ++j) {
      squares += std::pow(values[static_cast<std::size_t>(D + j)], 2);
      in_squares += std::pow(given[static_cast<std::size_t>(D + 4 + 2 + j)], 2);
    }
    CHECK(squares / D == Approx(4).epsilon(0.01));
    CHECK(values[static_cast<std::size_t>(D)] ==
          Approx(2 * given[static_cast<std::size_t>(D + 6)] / std::sqrt(in_squares / D)).epsilon(0.01));
  }
}

TEST_CASE("rms norm refuses gains of another width") {
  Tape tape;
  const Var x = tape.constant(random_tensor({2, 4}, "x"));
  CHECK_THROWS_AS(rms_norm(x, tape.constant(random_tensor({5}, "g")), {}, 1e-5), ShapeError);
}
