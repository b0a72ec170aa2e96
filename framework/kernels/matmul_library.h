// One product on one thread through oneDNN: the primitives are made once per shape and kept. Internal to
// matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

class LibraryProduct;

// The primitive for these shapes, strides, types and options; made on the first call. Data pointers do not
// matter.
const LibraryProduct& library_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                                      const MatmulOptions& options);

// Runs it on the calling thread. Several threads may run the same product at once.
void run(const LibraryProduct& product, const void* a, const void* b, void* c, const void* bias);

}  // namespace attnlab::kernels::detail
