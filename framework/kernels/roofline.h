// The fastest way that the library has for one product: what the time of a step is held against.
#pragma once

#include <compare>
#include <string>

#include "core/dtype.h"

namespace attnlab::kernels {

// c [rows, columns] = a [rows, depth] b [depth, columns], all dense.
struct ProductShape {
  Index rows = 0, columns = 0, depth = 0;
  bool a_transposed = false, b_transposed = false;  // as they lie in memory
  bool b_is_weight = false;                         // it may stay in the library's own order
  DType type = DType::f32, result_type = DType::f32;
  auto operator<=>(const ProductShape&) const = default;
  double flop() const { return 2.0 * static_cast<double>(rows * columns) * static_cast<double>(depth); }
};

struct FastestProduct {
  double seconds = 0;
  std::string way;  // such as "library's threads, b packed" or "blocks of 128 x 512"
};

// Tries the library's own threading and blocks of several sizes, with b as it lies and in the library's order
// (putting it there is not counted), each for about `seconds_a_way`, and returns the best time of all. For
// f32 and bf16. Throws Error where the CPU cannot multiply that type.
FastestProduct fastest_product(const ProductShape& shape, double seconds_a_way);

}  // namespace attnlab::kernels
