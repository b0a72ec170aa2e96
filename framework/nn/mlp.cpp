#include "nn/mlp.h"

namespace attnlab {

void MlpSpec::fields(Fields& f) {
  f("on", on, "have the MLP sublayers at all");
  f.choice("activation", activation,
           {{"relu", Activation::relu},
            {"gelu", Activation::gelu},
            {"gelu_tanh", Activation::gelu_tanh},
            {"silu", Activation::silu}},
           "function between the two maps");
}

Mlp::Mlp(const Scope& scope, const Plan& plan)
    : path_(scope.path),
      up_(scope / "up", plan.width, plan.feed_forward, plan.biases, scope.init.mlp_gain),
      down_(scope / "down", plan.feed_forward, plan.width, plan.biases, scope.init.mlp_gain),
      activation_(plan.activation),
      dropout_{plan.dropout, stream_name(scope.path + ".dropout")} {}

Var Mlp::operator()(const Var& x, Index first_row) const {
  const Tape::Scope scope(x.tape(), path_);
  return down_(dropout(activate(up_(x), activation_), dropout_, first_row));
}

}  // namespace attnlab
