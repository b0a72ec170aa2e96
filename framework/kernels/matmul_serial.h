// One product on the calling thread by whichever way suits its types and size. Internal to matmul.
#pragma once

#include "kernels/matmul.h"

namespace attnlab::kernels::detail {

// Whether it goes to the loops of matmul_loops.h. Operands checked.
bool goes_to_loops(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                   const MatmulOptions& options);

// Operands checked, c not empty.
void serial_product(const MatrixView& a, const MatrixView& b, const MutableMatrixView& c,
                    const MatmulOptions& options);

}  // namespace attnlab::kernels::detail
