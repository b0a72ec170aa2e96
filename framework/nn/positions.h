// What tells tokens their place: sinusoids (Vaswani et al. 2017, section 3.5), a learned table, rotated
// queries and keys (nn/rotary.h), or nothing.
#pragma once

#include "core/sequences.h"
#include "nn/scope.h"
#include "ops/rotate.h"

namespace attnlab {

enum class PositionKind { sinusoidal, learned, rotary, none };
// Interleaved: sine and cosine in turn, as in the paper. Concatenated: all sines, then all cosines, with
// exponents i / (n - 1), as in the authors' library.
enum class SinusoidLayout { interleaved, concatenated };

struct PositionSpec {
  using Scalar = std::string;
  PositionKind kind = PositionKind::sinusoidal;
  SinusoidLayout layout = SinusoidLayout::interleaved;
  std::int64_t max_length =
      512;  // rows of the learned table; also the limit of attentions with learned lengths
  double rotary_base = 10000;
  RotaryPairs rotary_pairs = RotaryPairs::halves;
  void set_all(const std::string& kind_name);
  void fields(Fields& f);
};

// The position of each row: sentence b's row t stands at past[b] + t (past empty: 0).
std::vector<std::int32_t> places_of(const Sequences& rows, const std::vector<Index>& past);

// One position's D numbers.
std::vector<double> sinusoid(SinusoidLayout layout, Index position, Index D);

class Positions {
 public:
  Positions(const Scope& scope, const PositionSpec& spec, Index width);
  // Adds the vector of its position to each row of x [N, D], at places_of(rows, past); rotary positions and
  // none add nothing. Throws ShapeError beyond the learned table.
  Var operator()(const Var& x, const Sequences& rows, const std::vector<Index>& past = {}) const;

 private:
  PositionSpec spec_;
  std::string path_;
  Parameter* table_ = nullptr;
  mutable Tensor sinusoids_;  // grown on demand, in the type of x
};

}  // namespace attnlab
