// What an attention op gives for one problem, and how two of that are compared.
#pragma once

#include <cmath>
#include <vector>

#include "core/tensor.h"
#include "support/catch.h"

namespace attnlab {

// Output and gradients under a fixed gradient of the output.
struct AttentionResult {
  Tensor output, d_query, d_key, d_value;
};

// The largest difference, relative to the largest number of b.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
    size = std::max(size, std::abs(b[i]));
  }
  return worst / size;
}

inline void check_near(const AttentionResult& a, const AttentionResult& b, double bound) {
  CHECK(distance(a.output.to_doubles(), b.output.to_doubles()) < bound);
  CHECK(distance(a.d_query.to_doubles(), b.d_query.to_doubles()) < bound);
  CHECK(distance(a.d_key.to_doubles(), b.d_key.to_doubles()) < bound);
  CHECK(distance(a.d_value.to_doubles(), b.d_value.to_doubles()) < bound);
}

inline void check_same(const AttentionResult& a, const AttentionResult& b) {
  CHECK(a.output.to_doubles() == b.output.to_doubles());
  CHECK(a.d_query.to_doubles() == b.d_query.to_doubles());
  CHECK(a.d_key.to_doubles() == b.d_key.to_doubles());
  CHECK(a.d_value.to_doubles() == b.d_value.to_doubles());
}

}  // namespace attnlab
