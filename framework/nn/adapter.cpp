#include "nn/adapter.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "config/error.h"
#include "core/parallel.h"
#include "ops/elementwise.h"
#include "ops/linear.h"

namespace attnlab {
namespace {

constexpr const char* kA = ".adapter.a";
constexpr const char* kB = ".adapter.b";

bool matches(const std::string& pattern, const std::string& path) {
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
}

// The path of the map that a parameter A belongs to; empty for other parameters.
std::string map_of(const Parameter& parameter) {
  const std::string& name = parameter.name();
  return name.ends_with(kA) ? name.substr(0, name.size() - std::string(kA).size()) : std::string();
}

// weight += scale b a
template <class T>
void add_product(const Tensor& weight, const Tensor& a, const Tensor& b, double scale) {
  const Index in = weight.columns(), rank = a.rows();
  const T *left = b.data<T>(), *right = a.data<T>();
  T* to = weight.data<T>();
  parallel_for(weight.rows(), 16, [in, rank, left, right, to, scale](Index begin, Index end) {
    for (Index o = begin; o < end; ++o)
      for (Index i = 0; i < in; ++i) {
        double sum = 0;
        for (Index r = 0; r < rank; ++r)
          sum += static_cast<double>(left[o * rank + r]) * static_cast<double>(right[r * in + i]);
        to[o * in + i] = static_cast<T>(static_cast<double>(to[o * in + i]) + scale * sum);
      }
  });
}

}  // namespace

bool AdapterSpec::adapts(const std::string& path) const {
  return on() && std::any_of(targets.begin(), targets.end(),
                             [&path](const auto& pattern) { return matches(pattern, path); });
}

void AdapterSpec::fields(Fields& f) {
  f("rank", rank, at_least(0), "rows of A and columns of B; 0: no adapters");
  f("alpha", alpha, above(0), "what the adapters add is scaled by alpha / rank");
  f("dropout", dropout, between(0, 1, upper_exclusive), "on what the adapters read");
  f("targets", targets,
    "patterns over the linear maps of the layers, which are named like decoder.layers.0.mlp.up");
  f.check(!on() || !targets.empty(), "targets", "names no map");
}

Adapter::Adapter(const Scope& map, Index in, Index out) {
  if (map.adapters == nullptr || !map.adapters->adapts(map.path)) return;
  const AdapterSpec& spec = *map.adapters;
  const double deviation = 1 / std::sqrt(static_cast<double>(in));  // A x is as large as x
  a_ = &map.parameters.add(map.path + kA, {spec.rank, in}, normal_fill(deviation));
  b_ = &map.parameters.add(map.path + kB, {out, spec.rank}, constant_fill(0));
  scale_ = spec.scale();
  dropout_ = {spec.dropout, stream_name(map.path + ".adapter.dropout")};
}

Var Adapter::operator()(const Var& x, const Var& y, Index first_row) const {
  Tape& tape = x.tape();
  const Var low = linear(dropout(x, dropout_, first_row), tape.leaf(*a_));
  return residual_sum(y, linear(scale(low, scale_), tape.leaf(*b_)), 1, {}, 0);
}

void require_targets(const AdapterSpec& spec, const ParameterSet& parameters) {
  if (!spec.on()) return;
  for (const auto& target : spec.targets) {
    const auto& all = parameters.all();
    const bool found = std::any_of(all.begin(), all.end(), [&target](const auto& parameter) {
      const std::string map = map_of(*parameter);
      return !map.empty() && matches(target, map);
    });
    if (!found)
      throw ConfigError("error: model.adapters.targets: '" + target +
                        "' matches no linear map of a layer; maps are named like "
                        "decoder.layers.0.self_attention.query or encoder.layers.0.mlp.up");
  }
}

Index merge_adapters(const AdapterSpec& spec, ParameterSet& parameters) {
  Index merged = 0;
  for (const auto& a : parameters.all()) {
    const std::string map = map_of(*a);
    if (map.empty()) continue;
    const Parameter& b = *parameters.find(map + kB);
    const Tensor& weight = parameters.find(map + ".weight")->value();
    if (weight.type() == DType::f64)
      add_product<double>(weight, a->value(), b.value(), spec.scale());
    else
      add_product<float>(weight, a->value(), b.value(), spec.scale());
    b.value().fill(0);
    ++merged;
  }
  parameters.refresh_compute();
  return merged;
}

}  // namespace attnlab
