// Multi-head attention (Vaswani et al. 2017, section 3.2.2) around any kind: projections, gates and output
// projection.
#pragma once

#include "attention/attention.h"
#include "nn/affine.h"
#include "nn/rotary.h"

namespace attnlab {

class MultiHeadAttention {
 public:
  struct Plan {
    Index width = 0;  // D, of queries, memory and output
    Index heads = 1;  // unless the spec says otherwise
    Index longest = 512;
    double dropout = 0;
    bool causal = false;
    bool biases = true;
    std::optional<bool> output_bias;          // unset: as the others
    double output_gain = 1;                   // a further factor on the initial weights of the map out
    const PositionSpec* positions = nullptr;  // of self-attention: rotary ones turn queries and keys
    std::optional<Index> heads_left;  // of them, after removal; their width stays. 0: the output's bias alone
  };
  // Throws ConfigError if the kind cannot be causal but must, if the heads do not divide what they share, or
  // if more are left than there were.
  MultiHeadAttention(const Scope& scope, const AttentionSpec& spec, const Plan& plan);

  // Rows of queries [N, D] and of the memory they look at [M, D] -> [N, D]. Self-attention passes the same
  // Var twice. ShapeError, as from all below, if the mask hides what the kind cannot hide.
  Var operator()(const Var& queries, const Var& memory, const Mask& mask) const;

  // Self-attention of new rows in decoding. mask: causal, with `past`.
  std::unique_ptr<AttentionState> start(Index count) const;
  Var step(const Var& queries, const Mask& mask, AttentionState& state) const;

  // Cross-attention in decoding: the memory's keys and values are projected once.
  struct Memory {
    Var key, value;
  };
  Memory project_memory(const Var& memory) const;
  Var attend_memory(const Var& queries, const Memory& memory, const Mask& mask) const;

  const AttentionKind& kind() const { return *kind_; }
  const Promises& promises() const { return promises_; }
  const AttentionShape& shape() const { return shape_; }
  const std::string& path() const { return path_; }
  Parameter* gates() const { return gates_; }  // [H]; nullptr for the control `none`

 private:
  HeadRows placed(HeadRows rows, const Mask& mask, const std::vector<Index>& key_past) const;
  Memory shared_out(Memory memory) const;
  Memory keys_and_values(const Var& memory, Index first_row) const;
  HeadRows project(const Var& queries, const Var& memory, const Mask& mask) const;
  Var project_queries(const Var& queries) const;
  HeadRows observed(const HeadRows& rows) const;
  // Gates and output projection.
  Var finish(Tape& tape, const Var& rows, Index count, const Mask& mask) const;
  void refuse_unpromised(const Mask& mask) const;
  Var nothing(const Var& queries) const;
  void keep_bias_alone(const Scope& scope, bool biases);
  void declare_projections(const Scope& scope, Index width, bool biases);

  std::string path_, name_;  // of the module, of the kind
  Promises promises_;
  AttentionShape shape_;
  Index key_value_heads_ = 1;
  std::optional<Rotary> rotary_;
  std::unique_ptr<AttentionKind> kind_;
  Projections wanted_;
  Affine query_, key_, value_, output_;
  Parameter* gates_ = nullptr;
  Parameter* bias_alone_ = nullptr;  // of the output, where no head is left
  Index width_ = 0;
};

}  // namespace attnlab
