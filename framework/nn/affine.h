// A linear map with its parameters: `weight` [out, in] and, if wanted, `bias` [out].
#pragma once

#include <vector>

#include "nn/scope.h"
#include "ops/linear.h"

namespace attnlab {

struct AffinePlan {
  std::string name;
  Index out;
  double gain;
};

class Affine {
 public:
  Affine() = default;
  Affine(const Scope& scope, Index in, Index out, bool bias, double gain);
  Affine(const Scope& scope, Index in, Index out, bool bias, const Fill& fill);  // of the weight
  explicit operator bool() const { return weight_ != nullptr; }
  Index out() const { return weight_->shape()[0]; }

  Var operator()(const Var& x) const;  // [N, in] -> [N, out]

  Parameter& weight() const { return *weight_; }
  Parameter* bias() const { return bias_; }

 private:
  friend std::vector<Affine> affine_group(const Scope&, Index, bool, const std::vector<AffinePlan>&);
  void add_weight(const Scope& scope, Index in, Index out, double gain);
  void add_bias(const Scope& scope, Index out);
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
};

// Several maps of rows of one width whose weights lie next to each other, and so do their biases.
std::vector<Affine> affine_group(const Scope& scope, Index in, bool bias,
                                 const std::vector<AffinePlan>& plans);

// All of them on the same rows, as one product where they lie next to each other.
std::vector<Var> apply_group(const Var& x, const std::vector<const Affine*>& maps);

}  // namespace attnlab
