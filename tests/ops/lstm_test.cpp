#include "ops/lstm.h"

#include "support/catch.h"
#include "support/gradient_case.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

GradientCheck problem() {
  return GradientCheck{[](Tape&, const auto& in) {
                         return lstm(in[0], in[1], Sequences::of_lengths({2, 0, 4, 1}));
                       },
                       {random_tensor({7, 12}, "gates"), random_tensor({12, 3}, "recurrent")}};
}
const GradientCase memory{"lstm", problem};

}  // namespace

TEST_CASE("an lstm in f32 and bf16 is near itself in f64") {
  CHECK(distance_from_f64(DType::f32, problem()) < 1e-5);
  CHECK(distance_from_f64(DType::bf16, problem()) < 0.05);
}

TEST_CASE("an lstm goes on from a state as if it had read on, whatever the order of the sentences") {
  Tape tape({.training = false});
  const Tensor gates = random_tensor({7, 12}, "gates");
  const Var recurrent = tape.constant(random_tensor({12, 3}, "recurrent"));
  const auto whole =
      lstm(tape.constant(gates), recurrent, Sequences::of_lengths({3, 4})).value().to_doubles();
  // Rows 0 and 1 of the first sentence with row 0 of the second, then the rest.
  const auto rows = [&gates](const std::vector<Index>& chosen) {
    const Tensor some({static_cast<Index>(chosen.size()), 12}, DType::f64);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      some.row_view(static_cast<Index>(i), 1).copy_from(gates.row_view(chosen[i], 1));
    return some;
  };
  LstmState state;
  const auto first = lstm(tape.constant(rows({0, 1, 3})), recurrent, Sequences::of_lengths({2, 1}), &state)
                         .value()
                         .to_doubles();
  const auto second =
      lstm(tape.constant(rows({2, 4, 5, 6})), recurrent, Sequences::of_lengths({1, 3}), &state)
          .value()
          .to_doubles();
  const auto row = [](const std::vector<double>& all, std::size_t i) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(3 * i),
                               all.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
  };
  CHECK(row(first, 1) == row(whole, 1));
  CHECK(row(first, 2) == row(whole, 3));
  CHECK(row(second, 0) == row(whole, 2));
  CHECK(row(second, 3) == row(whole, 6));
  CHECK(state.hidden.to_doubles()[3] == whole[18]);
}

TEST_CASE("an lstm refuses shapes and states that do not fit") {
  Tape tape({.training = false});
  const Var recurrent = tape.constant(random_tensor({12, 3}, "recurrent"));
  const Var gates = tape.constant(random_tensor({5, 12}, "gates"));
  CHECK_THROWS_AS(lstm(gates, recurrent, Sequences::of_lengths({4})), ShapeError);
  CHECK_THROWS_AS(lstm(gates, tape.constant(random_tensor({9, 3}, "r")), Sequences::of_lengths({5})),
                  ShapeError);
  LstmState state;
  lstm(gates, recurrent, Sequences::of_lengths({5}), &state);
  CHECK_THROWS_AS(lstm(gates, recurrent, Sequences::of_lengths({2, 3}), &state), ShapeError);
}
