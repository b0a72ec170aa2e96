#include "nn/normalise.h"

#include "config/error.h"
#include "ops/norm.h"

namespace attnlab {

void NormSpec::set_all(const std::string& position_name) {
  if (position_name == "pre")
    position = NormPosition::pre;
  else if (position_name == "post")
    position = NormPosition::post;
  else if (position_name == "none")
    position = NormPosition::none;
  else
    throw ConfigError("'" + position_name + "' is no position of the norm: pre, post, none");
}

void NormSpec::fields(Fields& f) {
  f.choice("position", position,
           {{"pre", NormPosition::pre}, {"post", NormPosition::post}, {"none", NormPosition::none}},
           "before each sublayer, after the residual sum, or nowhere");
  f("gain", gain, "learned factor per column");
  f("bias", bias, "learned shift per column");
  f("epsilon", epsilon, above(0), "added to the variance");
}

Norm::Norm(const Scope& scope, const NormSpec& spec, Index width) : on_(true), epsilon_(spec.epsilon) {
  if (spec.gain) gain_ = &scope.parameters.add(scope.path + ".weight", {width}, constant_fill(1), false);
  if (spec.bias) bias_ = &scope.parameters.add(scope.path + ".bias", {width}, constant_fill(0), false);
}

Var Norm::operator()(const Var& x) const {
  if (!on_) return x;
  Tape& tape = x.tape();
  return layer_norm(x, gain_ ? tape.leaf(*gain_) : Var(), bias_ ? tape.leaf(*bias_) : Var(), epsilon_);
}

}  // namespace attnlab
