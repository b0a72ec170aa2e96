// One layer of a long short-term memory with its parameters: `input.weight` [4D, D], `input.bias` [4D] and
// `recurrent.weight` [4D, D], gates in the order input, forget, cell, output. All start uniform within
// D^-0.5, as in PyTorch, whose two biases are one here.
#pragma once

#include "nn/affine.h"
#include "ops/lstm.h"

namespace attnlab {

class Lstm {
 public:
  Lstm(const Scope& scope, Index width);
  // x [N, D] -> [N, D], every sentence from zero, or on from `state`.
  Var operator()(const Var& x, const Sequences& rows, LstmState* state = nullptr) const;

 private:
  std::string path_;
  Affine input_;
  Parameter* recurrent_ = nullptr;
};

}  // namespace attnlab
