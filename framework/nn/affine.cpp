#include "nn/affine.h"

namespace attnlab {

Affine::Affine(const Scope& scope, Index in, Index out, bool bias, double gain) {
  add_weight(scope, in, out, gain);
  if (bias) add_bias(scope, out);
  adapter_ = Adapter(scope, in, out);
}

Affine::Affine(const Scope& scope, Index in, Index out, bool bias, const Fill& weight_fill,
               const Fill& bias_fill) {
  weight_ = &scope.parameters.add(scope.path + ".weight", {out, in}, weight_fill);
  if (bias) add_bias(scope, out, bias_fill);
  adapter_ = Adapter(scope, in, out);
}

void Affine::add_weight(const Scope& scope, Index in, Index out, double gain) {
  weight_ = &scope.parameters.add(scope.path + ".weight", {out, in}, weight_fill(scope.init, in, out, gain));
}

void Affine::add_bias(const Scope& scope, Index out, const Fill& fill) {
  bias_ = &scope.parameters.add(scope.path + ".bias", {out}, fill, false);
}

Var Affine::operator()(const Var& x, Index first_row) const {
  const Var y = linear(x, x.tape().leaf(*weight_), bias_ ? x.tape().leaf(*bias_) : Var());
  return adapter_ ? adapter_(x, y, first_row) : y;
}

std::vector<Affine> affine_group(const Scope& scope, Index in, bool bias,
                                 const std::vector<AffinePlan>& plans) {
  std::vector<Affine> maps(plans.size());
  scope.parameters.begin_group();
  for (std::size_t i = 0; i < plans.size(); ++i)
    maps[i].add_weight(scope / plans[i].name, in, plans[i].out, plans[i].gain);
  scope.parameters.end_group();
  if (bias) {
    scope.parameters.begin_group();
    for (std::size_t i = 0; i < plans.size(); ++i) maps[i].add_bias(scope / plans[i].name, plans[i].out);
    scope.parameters.end_group();
  }
  for (std::size_t i = 0; i < plans.size(); ++i)
    maps[i].adapter_ = Adapter(scope / plans[i].name, in, plans[i].out);
  return maps;
}

std::vector<Var> apply_group(const Var& x, const std::vector<const Affine*>& maps, Index first_row) {
  std::vector<Var> weights, biases;
  for (const Affine* map : maps) {
    weights.push_back(x.tape().leaf(map->weight()));
    if (map->bias() != nullptr) biases.push_back(x.tape().leaf(*map->bias()));
  }
  std::vector<Var> parts = linear_group(x, weights, biases);
  for (std::size_t i = 0; i < maps.size(); ++i)
    if (maps[i]->adapter()) parts[i] = maps[i]->adapter()(x, parts[i], first_row);
  return parts;
}

}  // namespace attnlab
