// Skip connection, norm position and dropout around any block: the only place that knows about them.
#pragma once

#include "nn/normalise.h"
#include "ops/dropout.h"

namespace attnlab {

struct SublayerPlan {
  bool skip = true;
  double skip_scale = 1;
  double dropout = 0;
  NormSpec norm;
};

class Sublayer {
 public:
  Sublayer(const Scope& scope, const SublayerPlan& plan, Index width)
      : path_(scope.path), plan_(plan), dropout_{plan.dropout, stream_name(scope.path + ".dropout")} {
    if (plan.norm.position != NormPosition::none) norm_ = Norm(scope / "norm", plan.norm, width);
  }

  // x [N, D] -> [N, D]; `first_row` is the row of x[0] in the accumulation window.
  template <class Block>
  Var around(const Var& x, Index first_row, Block&& block) const {
    const Tape::Scope scope(x.tape(), path_);
    const Var y =
        Tape::observe(path_, "sublayer", block(plan_.norm.position == NormPosition::pre ? norm_(x) : x));
    const Var sum = plan_.skip ? residual_sum(Tape::observe(path_, "residual", x), y, plan_.skip_scale,
                                              dropout_, first_row)
                               : dropout(y, dropout_, first_row);
    return plan_.norm.position == NormPosition::post ? norm_(sum) : sum;
  }

 private:
  std::string path_;
  SublayerPlan plan_;
  Dropout dropout_;
  Norm norm_;
};

}  // namespace attnlab
