#include "nn/positions.h"

#include <cmath>

#include "support/catch.h"

using namespace attnlab;

namespace {
struct Fixture {
  explicit Fixture(PositionKind kind, Index max_length = 8) {
    spec.kind = kind;
    spec.max_length = max_length;
    positions.emplace(Scope{parameters, init, "positions"}, spec, 4);
    parameters.finalise(DType::f64, 1, [](const Parameter&) { return true; });
  }
  // What is added to rows of zeros.
  std::vector<double> added(const Sequences& rows, const std::vector<Index>& past = {}) {
    Tape tape;
    const Var zeros = tape.constant(Tensor::zeros({rows.rows(), 4}, DType::f64));
    return (*positions)(zeros, rows, past).value().to_doubles();
  }
  InitSpec init;
  ParameterSet parameters;
  PositionSpec spec;
  std::optional<Positions> positions;
};
}  // namespace

TEST_CASE("sinusoids are those of the paper, and in the other layout those of its code") {
  const auto paper = sinusoid(SinusoidLayout::interleaved, 7, 6);
  for (int i = 0; i < 3; ++i) {
    const double angle = 7 / std::pow(10000.0, 2.0 * i / 6);
    CHECK(paper[static_cast<std::size_t>(2 * i)] == Approx(std::sin(angle)));
    CHECK(paper[static_cast<std::size_t>(2 * i + 1)] == Approx(std::cos(angle)));
  }
  const auto code = sinusoid(SinusoidLayout::concatenated, 7, 7);  // an odd width ends in zero
  for (int i = 0; i < 3; ++i) {
    const double angle = 7 / std::pow(10000.0, i / 2.0);
    CHECK(code[static_cast<std::size_t>(i)] == Approx(std::sin(angle)));
    CHECK(code[static_cast<std::size_t>(i + 3)] == Approx(std::cos(angle)));
  }
  CHECK(code[6] == 0);
}

TEST_CASE("each sentence counts its positions from 0, or from what it has read") {
  for (const PositionKind kind : {PositionKind::sinusoidal, PositionKind::learned}) {
    Fixture fixture(kind);
    const auto whole = fixture.added(Sequences::of_lengths({3, 5}));
    CHECK(std::equal(whole.begin(), whole.begin() + 12, whole.begin() + 12));
    const auto later = fixture.added(Sequences::of_lengths({1, 2}), {2, 3});
    CHECK(std::equal(later.begin(), later.begin() + 4, whole.begin() + 12 + 8));
    CHECK(std::equal(later.begin() + 4, later.end(), whole.begin() + 12 + 12));
  }
  for (const double number : Fixture(PositionKind::none).added(Sequences::of_lengths({2})))
    CHECK(number == 0);
}

TEST_CASE("a learned table ends") {
  Fixture learned(PositionKind::learned, 4), endless(PositionKind::sinusoidal, 4);
  CHECK_NOTHROW(learned.added(Sequences::of_lengths({4})));
  CHECK_THROWS_AS(learned.added(Sequences::of_lengths({5})), ShapeError);
  CHECK_THROWS_AS(learned.added(Sequences::of_lengths({1}), {4}), ShapeError);
  CHECK_NOTHROW(endless.added(Sequences::of_lengths({50})));
}
