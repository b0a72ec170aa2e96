// Parts that every kind of layer has, as the spec of its stack says.
#pragma once

#include "models/spec.h"
#include "nn/mlp.h"
#include "nn/sublayer.h"

namespace attnlab {

inline SublayerPlan sublayer_plan(const StackSpec& spec, bool skip, double scale) {
  return {skip, scale, spec.dropout.residual, spec.norm};
}

// Sublayers of the stack, each of which adds to the residual stream.
inline Index additions(const StackSpec& spec, bool cross_attention) {
  return spec.layers * (1 + (cross_attention ? 1 : 0) + (spec.mlp.on ? 1 : 0));
}

inline Mlp::Plan mlp_plan(const StackSpec& spec, Index width, bool cross_attention) {
  Mlp::Plan plan{width,           spec.feed_forward, spec.mlp.activation, spec.dropout.mlp,
                 spec.biases.mlp, spec.mlp.gated};
  plan.output_gain = spec.init.residual_gain(additions(spec, cross_attention));
  return plan;
}

}  // namespace attnlab
