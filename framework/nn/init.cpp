#include "nn/init.h"

#include <algorithm>
#include <cmath>

namespace attnlab {

void InitSpec::fields(Fields& f) {
  f.choice(
      "rule", rule,
      {{"xavier_uniform", InitRule::xavier_uniform},
       {"xavier_normal", InitRule::xavier_normal},
       {"normal", InitRule::normal},
       {"normal_by_depth", InitRule::normal_by_depth}},
      "initial weights of linear maps; normal_by_depth is normal, with maps that add to the residual stream "
      "divided by the root of their number in the stack, as in GPT-2");
  f("standard_deviation", standard_deviation, above(0), "of the rules normal and normal_by_depth");
  f("query_key_gain", query_key_gain, at_least(0), "factor on the initial query and key weights");
  f("value_gain", value_gain, at_least(0), "factor on the initial value weights");
  f("output_gain", output_gain, at_least(0), "factor on the initial weights of the attention's output");
  f("mlp_gain", mlp_gain, at_least(0), "factor on the initial weights of the MLP");
  f("embedding_gain", embedding_gain, at_least(0),
    "factor on the initial embeddings, whose deviation is width^-0.5");
}

double InitSpec::residual_gain(Index additions) const {
  const bool by_depth = rule == InitRule::normal_by_depth && additions > 0;
  return by_depth ? 1 / std::sqrt(static_cast<double>(additions)) : 1;
}

Fill normal_fill(double standard_deviation) {
  return [standard_deviation](std::span<double> values, Index first, const Random& random) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = standard_deviation * random.normal(static_cast<std::uint64_t>(first) + i);
  };
}

Fill uniform_fill(double limit) {
  return [limit](std::span<double> values, Index first, const Random& random) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = limit * (2 * random.uniform(static_cast<std::uint64_t>(first) + i) - 1);
  };
}

Fill constant_fill(double value) {
  return [value](std::span<double> values, Index, const Random&) {
    std::fill(values.begin(), values.end(), value);
  };
}

namespace {

// Makes the vectors, each `length` long, orthonormal in their order.
void orthonormalise(std::vector<double>& vectors, Index count, Index length) {
  const auto dot = [&vectors, length](Index a, Index b) {
    double sum = 0;
    for (Index k = 0; k < length; ++k)
      sum += vectors[static_cast<std::size_t>(a * length + k)] *
             vectors[static_cast<std::size_t>(b * length + k)];
    return sum;
  };
  for (Index i = 0; i < count; ++i) {
    for (int pass = 0; pass < 2; ++pass)  // the second removes the rounding of the first
      for (Index j = 0; j < i; ++j) {
        const double share = dot(i, j);
        for (Index k = 0; k < length; ++k)
          vectors[static_cast<std::size_t>(i * length + k)] -=
              share * vectors[static_cast<std::size_t>(j * length + k)];
      }
    const double norm = std::sqrt(dot(i, i));
    for (Index k = 0; k < length; ++k) vectors[static_cast<std::size_t>(i * length + k)] /= norm;
  }
}

}  // namespace

Fill orthogonal_fill(Index rows, Index columns, double gain) {
  return [rows, columns, gain](std::span<double> values, Index first, const Random& random) {
    const Index count = std::min(rows, columns), length = std::max(rows, columns);
    std::vector<double> vectors(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = random.normal(i);
    orthonormalise(vectors, count, length);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Index at = first + static_cast<Index>(i), row = at / columns, column = at % columns;
      values[i] =
          gain *
          vectors[static_cast<std::size_t>(rows <= columns ? row * length + column : column * length + row)];
    }
  };
}

Fill weight_fill(const InitSpec& init, Index fan_in, Index fan_out, double gain) {
  const double deviation = std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
  if (init.rule == InitRule::normal || init.rule == InitRule::normal_by_depth)
    return normal_fill(gain * init.standard_deviation);
  if (init.rule == InitRule::xavier_normal) return normal_fill(gain * deviation);
  return uniform_fill(gain * std::sqrt(3.0) * deviation);
}

}  // namespace attnlab
