#include "nn/sublayer.h"

#include "ops/elementwise.h"
#include "ops/norm.h"
#include "support/catch.h"
#include "support/gradient_case.h"

using namespace attnlab;

namespace {
std::vector<double> run(const SublayerPlan& plan, const Tensor& x) {
  const InitSpec init;
  ParameterSet parameters;
  const Sublayer sublayer({parameters, init, "sublayer"}, plan, x.columns());
  parameters.add("unused", {1}, constant_fill(0));  // a set is never empty
  parameters.finalise(DType::f64, 1, [](const Parameter&) { return true; });
  Tape tape;
  return sublayer.around(tape.constant(x), 0, [](const Var& in) { return multiply(in, in); })
      .value()
      .to_doubles();
}

std::vector<double> normed(const std::vector<double>& rows, Index D) {
  Tape tape;
  const Tensor x = Tensor::from({static_cast<Index>(rows.size()) / D, D}, DType::f64, rows);
  return layer_norm(tape.constant(x), {}, {}, 1e-5).value().to_doubles();
}
}  // namespace

TEST_CASE("the residual equation, with every skip and norm") {
  const Index D = 6;
  const Tensor x = random_tensor({3, D}, "x");
  const auto in = x.to_doubles();
  for (const bool skip : {true, false})
    for (const double scale : {1.0, 0.5})
      for (const NormPosition position : {NormPosition::pre, NormPosition::post, NormPosition::none}) {
        SublayerPlan plan;
        plan.skip = skip;
        plan.skip_scale = scale;
        plan.norm.position = position;
        std::vector<double> wanted = position == NormPosition::pre ? normed(in, D) : in;
        for (std::size_t i = 0; i < in.size(); ++i)
          wanted[i] = wanted[i] * wanted[i] + (skip ? scale * in[i] : 0);
        if (position == NormPosition::post) wanted = normed(wanted, D);
        const auto got = run(plan, x);
        INFO("skip " << skip << ", scale " << scale << ", norm " << static_cast<int>(position));
        REQUIRE(got.size() == wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(1e-10));
      }
}
