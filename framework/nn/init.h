// Initial weights: a rule and gains. Values come from a stream named by the parameter, so two models that
// share a parameter's name and shape start from the same numbers.
#pragma once

#include "config/fields.h"
#include "core/tape.h"

namespace attnlab {

enum class InitRule { xavier_uniform, xavier_normal, normal, normal_by_depth };

struct InitSpec {
  InitRule rule = InitRule::xavier_uniform;
  double standard_deviation = 0.02;  // of `normal` and `normal_by_depth`
  double query_key_gain = 1;
  double value_gain = 1;
  double output_gain = 1;
  double mlp_gain = 1;
  double embedding_gain = 1;
  // A further factor on maps that add to the residual stream, of which there are `additions` in a stack:
  // additions^-0.5 with normal_by_depth (Radford et al. 2019, section 2.3), else 1.
  double residual_gain(Index additions) const;
  void fields(Fields& f);
};

// Weights [out, in]: Glorot and Bengio 2010, eq. 16 (uniform) or its normal twin, or normal with a fixed
// deviation.
Fill weight_fill(const InitSpec& init, Index fan_in, Index fan_out, double gain);
Fill normal_fill(double standard_deviation);
Fill uniform_fill(double limit);  // in [-limit, limit)
Fill constant_fill(double value);
// gain times a matrix with orthonormal rows or columns, whichever are fewer (Saxe et al. 2014): the
// Gram-Schmidt of normal numbers.
Fill orthogonal_fill(Index rows, Index columns, double gain);

}  // namespace attnlab
