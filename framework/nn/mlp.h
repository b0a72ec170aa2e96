// The position-wise feed-forward block (Vaswani et al. 2017, eq. 2), or its gated form (Shazeer 2020, eq. 5).
#pragma once

#include "nn/affine.h"
#include "ops/activation.h"
#include "ops/dropout.h"

namespace attnlab {

struct MlpSpec {
  using Scalar = bool;
  bool on = true;
  Activation activation = Activation::relu;
  bool gated = false;
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
    bool gated = false;
    double output_gain = 1;  // a further factor on the initial weights of the map out
  };
  Mlp(const Scope& scope, const Plan& plan);
  Var operator()(const Var& x, Index first_row) const;  // [N, D] -> [N, D]

 private:
  std::string path_;
  Affine gate_, up_, down_;  // the gate only where the block is gated
  Activation activation_;
  Dropout dropout_;
};

}  // namespace attnlab
