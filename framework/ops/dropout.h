// Dropout (Srivastava et al. 2014) and the residual sum that it usually precedes. Masks are drawn again in
// backward, not stored; they depend on (seed, stream, step, row within the accumulation window, column)
// alone.
#pragma once

#include "core/tape.h"

namespace attnlab {

struct Dropout {
  double rate = 0;           // in [0, 1)
  std::uint64_t stream = 0;  // stream_name of the module's path
};

// y = x with elements dropped and the others scaled by 1 / (1 - rate); x itself outside training. x [N, D];
// `first_row` is the row of x[0] in the accumulation window.
Var dropout(const Var& x, const Dropout& options, Index first_row);

// y = skip_scale * residual + dropout(x): the residual sum of a sublayer (He et al. 2016). Both [N, D].
Var residual_sum(const Var& residual, const Var& x, double skip_scale, const Dropout& options,
                 Index first_row);

}  // namespace attnlab
