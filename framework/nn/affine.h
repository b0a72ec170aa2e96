// A linear map with its parameters: `weight` [out, in], if wanted `bias` [out], and an adapter where the
// scope says so.
#pragma once

#include <vector>

#include "nn/adapter.h"
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
  Affine(const Scope& scope, Index in, Index out, bool bias, const Fill& weight_fill,
         const Fill& bias_fill = constant_fill(0));
  explicit operator bool() const { return weight_ != nullptr; }
  Index out() const { return weight_->shape()[0]; }

  // [N, in] -> [N, out]. `first_row`, for the adapter's dropout, is the row of x[0] in the accumulation
  // window.
  Var operator()(const Var& x, Index first_row = 0) const;

  Parameter& weight() const { return *weight_; }
  Parameter* bias() const { return bias_; }
  const Adapter& adapter() const { return adapter_; }

 private:
  friend std::vector<Affine> affine_group(const Scope&, Index, bool, const std::vector<AffinePlan>&);
  void add_weight(const Scope& scope, Index in, Index out, double gain);
  void add_bias(const Scope& scope, Index out, const Fill& fill = constant_fill(0));
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
  Adapter adapter_;
};

// Several maps of rows of one width whose weights lie next to each other, and so do their biases.
std::vector<Affine> affine_group(const Scope& scope, Index in, bool bias,
                                 const std::vector<AffinePlan>& plans);

// All of them on the same rows, as one product where they lie next to each other.
std::vector<Var> apply_group(const Var& x, const std::vector<const Affine*>& maps, Index first_row = 0);

}  // namespace attnlab
