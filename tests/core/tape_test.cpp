#include "core/tape.h"

#include "core/gradient_check.h"
#include "core/pool.h"
#include "support/catch.h"

using namespace attnlab;

namespace {

const Op kSquare{"test square"};

Var square(const Var& x, double wrong_by = 0) {
  const Tensor value = x.value().clone(), result = value.clone();
  for (auto& v : result.values<double>()) v *= v;
  return record(kSquare, {x}, result, [value, wrong_by](Gradients& g) {
    Tensor dx = g.out().clone();
    for (Index i = 0; i < dx.count(); ++i) dx.data<double>()[i] *= (2 + wrong_by) * value.data<double>()[i];
    g.give(0, dx);
  });
}

// Two column blocks of a matrix, as one packed result: first block doubled, second tripled.
std::vector<Var> blocks(const Var& x) {
  const Tensor result = x.value().clone();
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.columns(); ++j)
      result.data<double>()[i * result.columns() + j] *= j < 2 ? 2 : 3;
  return x.tape().record_packed(kSquare, {x}, result, {2, result.columns() - 2}, [](Gradients& g) {
    Tensor dx = g.out().clone();
    for (Index i = 0; i < dx.rows(); ++i)
      for (Index j = 0; j < dx.columns(); ++j) dx.data<double>()[i * dx.columns() + j] *= j < 2 ? 2 : 3;
    g.give(0, dx);
  });
}

const Tensor x = Tensor::from({2, 3}, DType::f64, std::vector<double>{1, -2, 3, 0.5, 4, -1});

}  // namespace

TEST_CASE("a right gradient passes the check and a wrong one does not") {
  CHECK(check_gradients({[](Tape&, const auto& in) { return square(square(in[0])); }, {x}}).worst < 1e-8);
  CHECK(check_gradients({[](Tape&, const auto& in) { return square(in[0], 0.01); }, {x}}).worst > 1e-3);
}

TEST_CASE("a packed op hands back one gradient, zero where nothing was used") {
  CHECK(check_gradients({[](Tape&, const auto& in) { return square(blocks(in[0])[1]); }, {x}}).worst < 1e-8);
  CHECK(check_gradients({[](Tape&, const auto& in) {
                           const auto parts = blocks(in[0]);
                           return record(kSquare, {parts[0], parts[0]}, parts[0].value(), [](Gradients& g) {
                             g.give(0, g.out().clone());
                             const Tensor none = Tensor::zeros(g.out().shape(), DType::f64);
                             g.give(1, none);
                           });
                         },
                         {x}})
            .worst < 1e-8);
}

TEST_CASE("an op may write the gradients of one Var given twice in any order") {
  const auto product = [](Tape&, const std::vector<Var>& in) {
    const Tensor a = in[0].value().clone(), y = a.clone();
    for (double& v : y.values<double>()) v *= v;
    return record(kSquare, {in[0], in[0]}, y, [a](Gradients& g) {
      const Target first = g.target(0), second = g.target(1);
      for (const Target& target : {second, first})
        for (Index i = 0; i < a.count(); ++i) {
          double& place = target.buffer.data<double>()[i];
          place = (target.add ? place : 0) + g.out().data<double>()[i] * a.data<double>()[i];
        }
    });
  };
  CHECK(check_gradients({product, {x}}).worst < 1e-8);
}

TEST_CASE("what needs no gradient is not recorded") {
  Tape tape;
  square(tape.constant(x));
  CHECK(tape.node_count() == 0);
  Tape inference({.training = false});
  square(inference.variable(x));
  CHECK(inference.node_count() == 0);
}

TEST_CASE("the NaN finder names op and module") {
  Tape tape({.find_nan = true});
  const std::string path = "encoder.layers.0.mlp";
  const Tape::Scope scope(tape, path);
  const Tensor bad = Tensor::filled({2}, DType::f64, std::nan(""));
  CHECK_THROWS_WITH(square(tape.variable(bad)),
                    "NaN or infinity in the result of op 'test square' in encoder.layers.0.mlp, shape (2)");
}

TEST_CASE("activations return to the pool during backward") {
  const auto live = Pool::global().counters().live_bytes;
  {
    Tape tape;
    Var y = tape.variable(Tensor::filled({1000}, DType::f64, 1));
    for (int i = 0; i < 5; ++i) y = square(y);
    CHECK(Pool::global().counters().live_bytes > live + 5 * 8000);
    tape.backward(y, Tensor::filled({1000}, DType::f64, 1));
  }
  CHECK(Pool::global().counters().live_bytes == live);
}

TEST_CASE("parameters: arena order, groups without gaps, gradient windows") {
  ParameterSet set;
  const Fill ones = [](std::span<double> v, Index, const Random&) { std::fill(v.begin(), v.end(), 1.0); };
  set.add("frozen", {3}, ones);
  set.begin_group();
  auto& query = set.add("query", {2, 3}, ones);
  auto& key = set.add("key", {1, 3}, ones);
  set.end_group();
  set.finalise(DType::f64, 1, [](const Parameter& p) { return p.name() != "frozen"; });
  CHECK(set.offset(query) == 0);
  CHECK(stacked({&query.value(), &key.value()}).shape() == Shape{3, 3});
  CHECK_FALSE(stacked({&key.value(), &query.value()}));
  CHECK_FALSE(set.find("frozen")->gradient());
  CHECK(set.count(true) == 9);
  CHECK(set.count(false) == 12);
  set.begin_window();
  CHECK_FALSE(query.take_gradient_target().add);
  CHECK(query.take_gradient_target().add);
  CHECK_THROWS_AS(set.add("late", {1}, ones), ShapeError);
}
