// A layer whose rows learn of earlier rows through a long short-term memory instead of attention: the control
// for bodies that attend. Skip connection, norm, dropout and MLP are those of the other layers; without them
// (skip: false, norm: none, mlp: false) a stack of these is the plain one of textbooks.
#pragma once

#include <memory>
#include <optional>

#include "attention/attention.h"
#include "models/layer_plans.h"
#include "nn/lstm.h"

namespace attnlab {

class LstmLayer {
 public:
  LstmLayer(const Scope& scope, const StackSpec& spec, Index width);

  Var forward(const Var& x, const Sequences& rows) const;  // x [N, D] -> [N, D]
  // Decoding: the state of `count` hypotheses, and their next rows.
  std::unique_ptr<AttentionState> start(Index count) const;
  Var step(const Var& x, const Sequences& rows, AttentionState& state) const;
  const std::string& path() const { return path_; }

 private:
  Var through(const Var& x, const Sequences& rows, LstmState* state) const;

  std::string path_;
  Sublayer sublayer_;
  Lstm lstm_;
  std::optional<Sublayer> mlp_sublayer_;
  std::optional<Mlp> mlp_;
};

}  // namespace attnlab
