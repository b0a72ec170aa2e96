#include "nn/normalise.h"

#include "config/error.h"
#include "ops/norm.h"
#include "ops/rms_norm.h"

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
  f.choice("kind", kind, {{"layer_norm", NormKind::layer_norm}, {"rms_norm", NormKind::rms_norm}},
           "by mean and deviation, or by the root mean square alone");
  f("gain", gain, "learned factor per column");
  f("bias", bias, "learned shift per column; unset: with layer_norm, not with rms_norm");
  f("epsilon", epsilon, above(0), "added to the variance or mean square");
}

Norm::Norm(const Scope& scope, const NormSpec& spec, Index width)
    : on_(true), kind_(spec.kind), epsilon_(spec.epsilon) {
  if (spec.gain) gain_ = &scope.parameters.add(scope.path + ".weight", {width}, constant_fill(1), false);
  if (spec.bias.value_or(spec.kind == NormKind::layer_norm))
    bias_ = &scope.parameters.add(scope.path + ".bias", {width}, constant_fill(0), false);
}

Var Norm::operator()(const Var& x) const {
  if (!on_) return x;
  Tape& tape = x.tape();
  const Var gain = gain_ ? tape.leaf(*gain_) : Var(), bias = bias_ ? tape.leaf(*bias_) : Var();
  return kind_ == NormKind::layer_norm ? layer_norm(x, gain, bias, epsilon_)
                                       : rms_norm(x, gain, bias, epsilon_);
}

}  // namespace attnlab
