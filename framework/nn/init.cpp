#include "nn/init.h"

#include <cmath>

namespace attnlab {

void InitSpec::fields(Fields& f) {
  f.choice("rule", rule,
           {{"xavier_uniform", InitRule::xavier_uniform},
            {"xavier_normal", InitRule::xavier_normal},
            {"normal", InitRule::normal}},
           "initial weights of linear maps");
  f("standard_deviation", standard_deviation, above(0), "of the rule normal");
  f("query_key_gain", query_key_gain, at_least(0), "factor on the initial query and key weights");
  f("value_gain", value_gain, at_least(0), "factor on the initial value weights");
  f("output_gain", output_gain, at_least(0), "factor on the initial weights of the attention's output");
  f("mlp_gain", mlp_gain, at_least(0), "factor on the initial weights of the MLP");
  f("embedding_gain", embedding_gain, at_least(0),
    "factor on the initial embeddings, whose deviation is width^-0.5");
}

Fill normal_fill(double standard_deviation) {
  return [standard_deviation](std::span<double> values, Index first, const Random& random) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = standard_deviation * random.normal(static_cast<std::uint64_t>(first) + i);
  };
}

Fill constant_fill(double value) {
  return [value](std::span<double> values, Index, const Random&) {
    std::fill(values.begin(), values.end(), value);
  };
}

Fill weight_fill(const InitSpec& init, Index fan_in, Index fan_out, double gain) {
  const double deviation = std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
  if (init.rule == InitRule::normal) return normal_fill(gain * init.standard_deviation);
  if (init.rule == InitRule::xavier_normal) return normal_fill(gain * deviation);
  const double limit = gain * std::sqrt(3.0) * deviation;
  return [limit](std::span<double> values, Index first, const Random& random) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = limit * (2 * random.uniform(static_cast<std::uint64_t>(first) + i) - 1);
  };
}

}  // namespace attnlab
