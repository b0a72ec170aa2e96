// Low-rank adapters (Hu et al. 2021, LoRA, section 4.1): beside a linear map W [out, in] stand A [rank, in]
// and B [out, rank], which alone train:
//   y = W x + (alpha / rank) B A dropout(x).
// B starts at zero, so that an adapted model starts as the one it adapts.
#pragma once

#include <string>
#include <vector>

#include "nn/scope.h"
#include "ops/dropout.h"

namespace attnlab {

struct AdapterSpec {
  std::int64_t rank = 0;
  double alpha = 16, dropout = 0;
  std::vector<std::string> targets{"*attention.query", "*attention.value"};
  bool on() const { return rank > 0; }
  double scale() const { return rank > 0 ? alpha / static_cast<double>(rank) : 0; }
  // Whether the linear map at this path ("decoder.layers.0.mlp.up") has an adapter.
  bool adapts(const std::string& path) const;
  void fields(Fields& f);
};

class Adapter {
 public:
  Adapter() = default;  // of a map that has none
  // Declares PATH.adapter.a and PATH.adapter.b if the scope's spec adapts its path.
  Adapter(const Scope& map, Index in, Index out);
  explicit operator bool() const { return a_ != nullptr; }
  // y [N, out] plus what the adapter makes of x [N, in]; `first_row` is the row of x[0] in the accumulation
  // window.
  Var operator()(const Var& x, const Var& y, Index first_row) const;

 private:
  Parameter* a_ = nullptr;
  Parameter* b_ = nullptr;
  double scale_ = 0;
  Dropout dropout_;
};

// Throws ConfigError for a target that no adapter of the set follows.
void require_targets(const AdapterSpec& spec, const ParameterSet& parameters);

// Adds (alpha / rank) B A to the weight beside each adapter and sets B to zero: the same function in one
// product. Returns how many there were. The set is one of a model with this spec.
Index merge_adapters(const AdapterSpec& spec, ParameterSet& parameters);

}  // namespace attnlab
