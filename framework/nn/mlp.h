// The position-wise feed-forward block (Vaswani et al. 2017, eq. 2).
#pragma once

#include "nn/affine.h"
#include "ops/activation.h"
#include "ops/dropout.h"

namespace attnlab {

struct MlpSpec {
  using Scalar = bool;
  bool on = true;
  Activation activation = Activation::relu;
  void set_all(bool value) { on = value; }
  void fields(Fields& f);
};

class Mlp {
 public:
  struct Plan {
    Index width, feed_forward;
    Activation activation;
    double dropout;  // on the inner activations
    bool biases;
  };
  Mlp(const Scope& scope, const Plan& plan);
  Var operator()(const Var& x, Index first_row) const;  // [N, D] -> [N, D]

 private:
  std::string path_;
  Affine up_, down_;
  Activation activation_;
  Dropout dropout_;
};

}  // namespace attnlab
