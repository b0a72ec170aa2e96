#include "nn/mlp.h"

#include "ops/elementwise.h"
#include "ops/linear_relu.h"

namespace attnlab {

void MlpSpec::fields(Fields& f) {
  f("on", on, "have the MLP sublayers at all");
  f.choice("activation", activation,
           {{"relu", Activation::relu},
            {"gelu", Activation::gelu},
            {"gelu_tanh", Activation::gelu_tanh},
            {"silu", Activation::silu}},
           "function between the two maps");
  f("gated", gated,
    "a third map: the activation of one product multiplies the other; with silu this is SwiGLU");
}

Mlp::Mlp(const Scope& scope, const Plan& plan)
    : path_(scope.path),
      down_(scope / "down", plan.feed_forward, plan.width, plan.biases,
            scope.init.mlp_gain * plan.output_gain),
      activation_(plan.activation),
      // Not PATH.dropout: that is the stream of the sublayer around, whose masks would be the same.
      dropout_{plan.dropout, stream_name(scope.path + ".inner.dropout")} {
  if (!plan.gated) {
    up_ = Affine(scope / "up", plan.width, plan.feed_forward, plan.biases, scope.init.mlp_gain);
    return;
  }
  const auto maps = affine_group(
      scope, plan.width, plan.biases,
      {{"gate", plan.feed_forward, scope.init.mlp_gain}, {"up", plan.feed_forward, scope.init.mlp_gain}});
  gate_ = maps[0];
  up_ = maps[1];
}

Var Mlp::operator()(const Var& x, Index first_row) const {
  Tape& tape = x.tape();
  const Tape::Scope scope(tape, path_);
  if (gate_) {
    const auto parts = apply_group(x, {&gate_, &up_}, first_row);
    return down_(dropout(multiply(activate(parts[0], activation_), parts[1]), dropout_, first_row),
                 first_row);
  }
  if (activation_ == Activation::relu && !up_.adapter())
    return down_(linear_relu(x, tape.leaf(up_.weight()), up_.bias() ? tape.leaf(*up_.bias()) : Var(),
                             dropout_, first_row),
                 first_row);
  return down_(dropout(activate(up_(x, first_row), activation_), dropout_, first_row), first_row);
}

}  // namespace attnlab
