// Normalisation as a module: which kind, where, and with which affine part.
#pragma once

#include <optional>

#include "nn/scope.h"

namespace attnlab {

enum class NormPosition { pre, post, none };
enum class NormKind { layer_norm, rms_norm };

struct NormSpec {
  using Scalar = std::string;
  NormPosition position = NormPosition::pre;
  NormKind kind = NormKind::layer_norm;
  bool gain = true;
  std::optional<bool> bias;  // unset: with layer norm only
  double epsilon = 1e-5;
  void set_all(const std::string& position_name);  // "pre", "post" or "none"; ConfigError otherwise
  void fields(Fields& f);
};

class Norm {
 public:
  Norm() = default;                                             // the identity
  Norm(const Scope& scope, const NormSpec& spec, Index width);  // whatever the position
  Var operator()(const Var& x) const;                           // [N, D] -> [N, D]

 private:
  bool on_ = false;
  NormKind kind_ = NormKind::layer_norm;
  double epsilon_ = 0;
  Parameter* gain_ = nullptr;
  Parameter* bias_ = nullptr;
};

}  // namespace attnlab
