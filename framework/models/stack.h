// Layers of self-attention, cross-attention and MLP, each in its sublayer (Vaswani et al. 2017, section 3.1).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/multi_head.h"
#include "models/lstm_layer.h"
#include "models/spec.h"
#include "nn/mlp.h"
#include "nn/sublayer.h"

namespace attnlab {

// What a decoder layer carries from step to step.
struct LayerState {
  std::unique_ptr<AttentionState> self;  // of attention, or of a long short-term memory
  MultiHeadAttention::Memory memory;     // projected once; unused without cross-attention
};

class Layer {
 public:
  struct Plan {
    const StackSpec& spec;
    const AttentionSpec* cross;  // nullptr: no cross-attention
    Index width, longest;
    bool causal;
    const PositionSpec* positions = nullptr;  // for kinds of positions that live in self-attention
    Index layer = 0;                          // which of the stack
  };
  Layer(const Scope& scope, const Plan& plan);

  // x [N, D]; `memory` [M, D] and `cross` only where there is cross-attention.
  Var forward(const Var& x, const Mask& self, const Var& memory, const Mask* cross) const;
  LayerState start(Index count, const Var& memory) const;
  Var step(const Var& x, const Mask& self, const Mask* cross, LayerState& state) const;

  const std::string& path() const { return path_; }
  const MultiHeadAttention& self_attention() const { return self_; }
  const MultiHeadAttention* cross_attention() const { return cross_ ? &*cross_ : nullptr; }

 private:
  template <class SelfBlock, class CrossBlock>
  Var through(const Var& x, Index first_row, SelfBlock&& self_block, CrossBlock&& cross_block) const;

  std::string path_;
  Sublayer self_sublayer_;
  MultiHeadAttention self_;
  std::optional<Sublayer> cross_sublayer_, mlp_sublayer_;
  std::optional<MultiHeadAttention> cross_;
  std::optional<Mlp> mlp_;
};

// Layers of attention, or of a long short-term memory where spec.backbone says so.
class Stack {
 public:
  Stack(const Scope& scope, const Layer::Plan& plan, bool checkpoint_activations);
  Var forward(Var x, const Mask& self, const Var& memory, const Mask* cross) const;
  std::vector<LayerState> start(Index count, const Var& memory) const;
  Var step(Var x, const Mask& self, const Mask* cross, std::vector<LayerState>& states) const;
  const std::string& path() const { return path_; }
  const std::vector<Layer>& layers() const { return layers_; }  // those of attention
  std::vector<std::string> layer_paths() const;                 // of all layers, whatever they are made of

 private:
  std::string path_;
  template <class Body>
  Var recomputed(const std::vector<Var>& inputs, const Body& body) const;
  Var forward_recurrent(Var x, const Sequences& rows) const;

  std::vector<Layer> layers_;
  std::vector<LstmLayer> recurrent_;
  Norm final_norm_;  // of pre-norm stacks
  bool checkpoint_;
};

}  // namespace attnlab
