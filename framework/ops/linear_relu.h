// The first half of a feed-forward block as one op.
#pragma once

#include "ops/dropout.h"

namespace attnlab {

// y = dropout(relu(x weight^T + bias)), as the three ops would give it. Relu and dropout are one sweep over
// the product, in place; backward reads off y where both let a gradient pass, so that it neither keeps what
// came before nor draws the mask again, and sums up the gradient of the bias on the way. `x` [N, in],
// `weight` [out, in], `bias` [out] or an empty Var. Throws ShapeError.
Var linear_relu(const Var& x, const Var& weight, const Var& bias, const Dropout& options, Index first_row);

}  // namespace attnlab
