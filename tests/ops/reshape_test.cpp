#include "ops/reshape.h"

#include "support/catch.h"
#include "support/precision.h"

using namespace attnlab;

namespace {

GradientCheck of_one(const std::function<Var(const Var&)>& f) {
  return {[f](Tape&, const auto& in) { return f(in[0]); }, {random_tensor({3, 4, 5}, "x")}};
}
GradientCheck joining(int axis, const Shape& a, const Shape& b) {
  return {[axis](Tape&, const auto& in) {
            return concatenate({in[0], in[1], in[0]}, axis);
          },
          {random_tensor(a, "a"), random_tensor(b, "b")}};
}
// Three parts, of which the middle one is not used and the last one twice.
Var parts(const Var& x, int axis, Index last) {
  const auto pieces = split(x, axis, {1, 1, last});
  return concatenate({pieces[2], pieces[0], pieces[2]}, axis);
}

const GradientCase kReshaped{"reshape", [] {
                               return of_one([](const Var& x) { return reshape(x, {2, 30}); });
                             }};
const GradientCase kPermuted{"permute", [] {
                               return of_one([](const Var& x) { return permute(x, {2, 0, 1}); });
                             }};
const GradientCase kSlicedFirst{"slice of rows",
                                [] { return of_one([](const Var& x) { return slice(x, 0, 1, 2); }); }};
const GradientCase kSlicedLast{"slice of columns",
                               [] { return of_one([](const Var& x) { return slice(x, -1, 1, 3); }); }};
const GradientCase kJoinedMiddle{"concatenate", [] { return joining(1, {2, 3, 4}, {2, 1, 4}); }};
const GradientCase kJoinedLast{"concatenate columns", [] { return joining(-1, {2, 3, 4}, {2, 3, 2}); }};
const GradientCase kSplitMiddle{"split", [] { return of_one([](const Var& x) { return parts(x, 1, 2); }); }};
const GradientCase kSplitLast{"split columns",
                              [] { return of_one([](const Var& x) { return parts(x, -1, 3); }); }};

std::vector<double> values(const Var& x) { return x.value().to_doubles(); }

}  // namespace

TEST_CASE("permute, slice, concatenate and split put every element in its place") {
  for (const DType type : {DType::f32, DType::bf16, DType::f64}) {
    Tape tape;
    const Var x = tape.constant(random_tensor({3, 4, 5}, "x", type));
    const auto source = values(x), turned = values(permute(x, {2, 0, 1})), cut = values(slice(x, 1, 1, 2));
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t k = 0; k < 5; ++k) {
          CHECK(turned[(k * 3 + i) * 4 + j] == source[(i * 4 + j) * 5 + k]);
          if (j >= 1 && j < 3) CHECK(cut[(i * 2 + j - 1) * 5 + k] == source[(i * 4 + j) * 5 + k]);
        }
    for (int axis = 0; axis < 3; ++axis)
      CHECK(values(concatenate(split(x, axis, {1, 0, x.shape()[axis] - 1}), axis)) == source);
    CHECK(values(permute(permute(x, {1, 2, 0}), {2, 0, 1})) == source);
    CHECK(reshape(x, {60}).value().raw() == x.value().raw());
  }
}

TEST_CASE("moving ops take column views") {
  Tape tape;
  const Tensor wide = random_tensor({4, 9}, "wide");
  const Var view = tape.constant(wide.column_view(2, 6)),
            copy = tape.constant(wide.column_view(2, 6).clone());
  CHECK(values(reshape(view, {2, 12})) == values(copy));
  CHECK(values(permute(view, {1, 0})) == values(permute(copy, {1, 0})));
  CHECK(values(slice(view, 0, 1, 2)) == values(slice(copy, 0, 1, 2)));
  CHECK(values(concatenate({view, copy}, 0)) == values(concatenate({copy, copy}, 0)));
}

TEST_CASE("moving ops change no number in f32 and bf16 either") {
  for (const DType type : {DType::f32, DType::bf16}) {
    CHECK(distance_from_f64(type, of_one([](const Var& x) { return permute(x, {2, 0, 1}); })) == 0);
    CHECK(distance_from_f64(type, of_one([](const Var& x) { return slice(x, -1, 1, 3); })) == 0);
    CHECK(distance_from_f64(type, of_one([](const Var& x) { return parts(x, 1, 2); })) < 0.006);
  }
}

TEST_CASE("moving ops refuse what does not fit") {
  Tape tape;
  const Var x = tape.constant(random_tensor({3, 4}, "x"));
  CHECK_THROWS_WITH(reshape(x, {5}), "reshape of (3,4) to (5): 12 and 5 elements");
  CHECK_THROWS_WITH(permute(x, {0, 0}), "permute of (3,4): every axis once expected");
  CHECK_THROWS_AS(permute(x, {0}), ShapeError);
  CHECK_THROWS_WITH(slice(x, 1, 2, 3), "slice: places 2 to 5 along axis 1 of (3,4)");
  CHECK_THROWS_AS(split(x, 0, {1, 1}), ShapeError);
  CHECK_THROWS_AS(split(x, 0, {1, 3}), ShapeError);
  CHECK_THROWS_AS(concatenate({x, tape.constant(random_tensor({3, 5}, "y"))}, 0), ShapeError);
  CHECK_THROWS_AS(concatenate({}, 0), ShapeError);
}
