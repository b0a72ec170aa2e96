#include "nn/lstm.h"

#include <cmath>

namespace attnlab {

Lstm::Lstm(const Scope& scope, Index width) : path_(scope.path) {
  const Fill fill = uniform_fill(1 / std::sqrt(static_cast<double>(width)));
  input_ = Affine(scope / "input", width, 4 * width, true, fill, fill);
  recurrent_ = &scope.parameters.add(scope.path + ".recurrent.weight", {4 * width, width}, fill);
}

Var Lstm::operator()(const Var& x, const Sequences& rows, LstmState* state) const {
  const Tape::Scope scope(x.tape(), path_);
  return lstm(input_(x, rows.first_row), x.tape().leaf(*recurrent_), rows, state);
}

}  // namespace attnlab
