#include "models/stack.h"

#include "ops/checkpoint.h"

namespace attnlab {
namespace {

MultiHeadAttention::Plan attention_plan(const Layer::Plan& plan, const std::vector<std::int64_t>& heads_left,
                                        bool causal) {
  const BiasSpec& biases = plan.spec.biases;
  MultiHeadAttention::Plan attention{
      plan.width, plan.spec.heads, plan.longest, plan.spec.dropout.attention, causal, biases.attention, {}};
  attention.output_bias = biases.attention_output;
  attention.output_gain = plan.spec.init.residual_gain(additions(plan.spec, plan.cross != nullptr));
  if (!heads_left.empty()) attention.heads_left = heads_left.at(static_cast<std::size_t>(plan.layer));
  return attention;
}

MultiHeadAttention::Plan self_attention_plan(const Layer::Plan& plan) {
  MultiHeadAttention::Plan self = attention_plan(plan, plan.spec.layer_heads, plan.causal);
  self.positions = plan.positions;
  return self;
}

}  // namespace

Layer::Layer(const Scope& scope, const Plan& plan)
    : path_(scope.path),
      self_sublayer_(scope / "self_attention",
                     sublayer_plan(plan.spec, plan.spec.skip.attention, plan.spec.skip.attention_scale),
                     plan.width),
      self_(scope / "self_attention", *plan.spec.attention, self_attention_plan(plan)) {
  const StackSpec& spec = plan.spec;
  if (plan.cross != nullptr) {
    cross_sublayer_.emplace(scope / "cross_attention",
                            sublayer_plan(spec, spec.skip.cross_attention, spec.skip.cross_attention_scale),
                            plan.width);
    cross_.emplace(scope / "cross_attention", *plan.cross,
                   attention_plan(plan, spec.layer_cross_heads, false));
  }
  if (spec.mlp.on) {
    mlp_sublayer_.emplace(scope / "mlp", sublayer_plan(spec, spec.skip.mlp, spec.skip.mlp_scale), plan.width);
    mlp_.emplace(scope / "mlp", mlp_plan(spec, plan.width, plan.cross != nullptr));
  }
}

template <class SelfBlock, class CrossBlock>
Var Layer::through(const Var& x, Index first_row, SelfBlock&& self_block, CrossBlock&& cross_block) const {
  Var y = self_sublayer_.around(x, first_row, self_block);
  if (cross_) y = cross_sublayer_->around(y, first_row, cross_block);
  if (mlp_) y = mlp_sublayer_->around(y, first_row, [&](const Var& in) { return (*mlp_)(in, first_row); });
  return y;
}

Var Layer::forward(const Var& x, const Mask& self, const Var& memory, const Mask* cross) const {
  return through(
      x, self.queries.first_row, [&](const Var& in) { return self_(in, in, self); },
      [&](const Var& in) { return (*cross_)(in, memory, *cross); });
}

LayerState Layer::start(Index count, const Var& memory) const {
  return {self_.start(count), cross_ ? cross_->project_memory(memory) : MultiHeadAttention::Memory{}};
}

Var Layer::step(const Var& x, const Mask& self, const Mask* cross, LayerState& state) const {
  return through(
      x, 0, [&](const Var& in) { return self_.step(in, self, *state.self); },
      [&](const Var& in) { return cross_->attend_memory(in, state.memory, *cross); });
}

Stack::Stack(const Scope& scope, const Layer::Plan& plan, bool checkpoint_activations)
    : path_(scope.path), checkpoint_(checkpoint_activations) {
  for (Index i = 0; i < plan.spec.layers; ++i) {
    const Scope place = scope / "layers" / std::to_string(i);
    if (plan.spec.backbone == Backbone::lstm) {
      recurrent_.emplace_back(place, plan.spec, plan.width);
      continue;
    }
    Layer::Plan own = plan;
    own.layer = i;
    layers_.emplace_back(place, own);
  }
  if (plan.spec.norm.position == NormPosition::pre)
    final_norm_ = Norm(scope / "norm", plan.spec.norm, plan.width);
}

// A layer that backward computes again, out of its inputs alone.
template <class Body>
Var Stack::recomputed(const std::vector<Var>& inputs, const Body& body) const {
  return checkpoint([body](Tape&, const std::vector<Var>& in) { return body(in); }, inputs);
}

Var Stack::forward_recurrent(Var x, const Sequences& rows) const {
  const bool recompute = checkpoint_ && !x.tape().observed();
  for (const LstmLayer& layer : recurrent_) {
    const Var y = recompute
                      ? recomputed({x}, [&layer, rows](const auto& in) { return layer.forward(in[0], rows); })
                      : layer.forward(x, rows);
    x = recompute ? y : Tape::observe(layer.path(), "output", y);
  }
  return x;
}

Var Stack::forward(Var x, const Mask& self, const Var& memory, const Mask* cross) const {
  const bool recompute = checkpoint_ && !x.tape().observed();
  x = forward_recurrent(Tape::observe(path_, "input", x), self.queries);
  for (const Layer& layer : layers_) {
    if (!recompute) {
      x = Tape::observe(layer.path(), "output", layer.forward(x, self, memory, cross));
      continue;
    }
    std::vector<Var> inputs{x};
    if (cross != nullptr) inputs.push_back(memory);
    // The closure may outlive the caller's masks, so it holds copies.
    x = recomputed(inputs, [&layer, self, held = cross ? std::optional<Mask>(*cross) : std::nullopt](
                               const std::vector<Var>& in) {
      return layer.forward(in[0], self, in.size() > 1 ? in[1] : Var(), held ? &*held : nullptr);
    });
  }
  return Tape::observe(path_, "output", final_norm_(x));
}

std::vector<std::string> Stack::layer_paths() const {
  std::vector<std::string> paths;
  for (const LstmLayer& layer : recurrent_) paths.push_back(layer.path());
  for (const Layer& layer : layers_) paths.push_back(layer.path());
  return paths;
}

std::vector<LayerState> Stack::start(Index count, const Var& memory) const {
  std::vector<LayerState> states;
  for (const LstmLayer& layer : recurrent_) states.push_back({layer.start(count), {}});
  for (const Layer& layer : layers_) states.push_back(layer.start(count, memory));
  return states;
}

Var Stack::step(Var x, const Mask& self, const Mask* cross, std::vector<LayerState>& states) const {
  for (std::size_t i = 0; i < recurrent_.size(); ++i)
    x = recurrent_[i].step(x, self.queries, *states[i].self);
  for (std::size_t i = 0; i < layers_.size(); ++i) x = layers_[i].step(x, self, cross, states[i]);
  return final_norm_(x);
}

}  // namespace attnlab
