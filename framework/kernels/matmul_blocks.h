// How a product is cut. Where the bits of sums depend on it, the cut depends on the shape alone, never on the
// number of threads. Internal to matmul.
#pragma once

#include "core/dtype.h"

namespace attnlab::kernels::detail {

// Blocks of rows x columns of c; the sum over K is cut into pieces of `depth`, each summed on its own and
// then added in order. The last block of each kind may be shorter.
struct Blocks {
  Index rows, columns, depth;
};

Blocks choose_blocks(Index rows, Index columns, Index depth, DType type);

// For loops whose bits do not depend on blocks of rows and columns: about two for each thread, none too
// small. Sums are whole, but that those over rows which the threads have just written, `sums_over_rows`, may
// be cut.
Blocks choose_shares(Index rows, Index columns, Index depth, bool sums_over_rows, int threads);

}  // namespace attnlab::kernels::detail
