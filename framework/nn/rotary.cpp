#include "nn/rotary.h"

#include <algorithm>

namespace attnlab {

Var Rotary::operator()(const Var& x, Index heads, const Sequences& rows,
                       const std::vector<Index>& past) const {
  Rotation rotation{heads, pairs_, {}, places_of(rows, past)};
  Index longest = 0;
  for (const auto place : rotation.places) longest = std::max<Index>(longest, place + 1);
  const Index K = x.shape().columns() / heads;
  const DType type = x.type() == DType::f64 ? DType::f64 : DType::f32;
  if (!angles_ || angles_.rows() < longest || angles_.columns() != K || angles_.type() != type)
    angles_ = rotary_angles(std::max<Index>({longest, 64, angles_ ? 2 * angles_.rows() : 0}), K, base_, type);
  rotation.angles = angles_;
  return rotate(x, rotation);
}

}  // namespace attnlab
