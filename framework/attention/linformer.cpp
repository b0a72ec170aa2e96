// Linformer (Wang et al. 2020, eq. 7): keys and values of a sentence are projected from its length to a fixed
// number of rows by learned maps E and F, shared by the heads of this attention. Mixes all positions, so it
// cannot hide any of them.
#include <cmath>

#include "attention/attention.h"
#include "attention/softmax_reference.h"
#include "ops/dense.h"
#include "ops/dropout_weights.h"
#include "ops/elementwise.h"
#include "ops/pad.h"
#include "ops/reshape.h"
#include "ops/softmax.h"

namespace attnlab {
namespace {

class Linformer final : public AttentionKind {
 public:
  Linformer(const Scope& scope, const AttentionShape& shape, Index projected, bool share)
      : shape_(shape),
        scale_(1 / std::sqrt(static_cast<double>(shape.K))),
        dropout_{shape.dropout, scope.stream()} {
    // Deviation P^-0.5, as in the random projections of the paper's theorem 2.
    const Fill fill = normal_fill(1 / std::sqrt(static_cast<double>(projected)));
    key_map_ = &scope.parameters.add(scope.path + ".key_length.weight", {projected, shape.longest}, fill);
    value_map_ =
        share ? key_map_
              : &scope.parameters.add(scope.path + ".value_length.weight", {projected, shape.longest}, fill);
  }

  Var forward(Tape& tape, const HeadRows& rows, const Mask& mask) const override {
    const Var seen = seen_rows(tape, mask, rows.query.type());
    const Var query = pad(rows.query, mask.queries, shape_.H);
    const Var key = shortened(tape, *key_map_, pad(rows.key, mask.keys, shape_.H));
    const Var value = shortened(tape, *value_map_, pad(rows.value, mask.keys, shape_.H));
    const Var weights = softmax(scale(batched_matmul(query, key, false, true), scale_));
    const Var kept = dropout_weights(weights, mask.queries, dropout_);
    return unpad(multiply(batched_matmul(kept, value), seen), mask.queries);
  }

  std::vector<double> reference(const HeadProblem& p) const override {
    const Index P = key_map_->shape()[0];
    const auto shorter = [&](const Parameter& map, const std::vector<double>& x, Index columns) {
      const auto weights = map.value().to_doubles();
      std::vector<double> y(static_cast<std::size_t>(P * columns), 0.0);
      for (Index i = 0; i < P; ++i)
        for (Index s = 0; s < p.S; ++s)
          for (Index j = 0; j < columns; ++j)
            y[static_cast<std::size_t>(i * columns + j)] +=
                weights[static_cast<std::size_t>(i * shape_.longest + s)] *
                x[static_cast<std::size_t>(s * columns + j)];
      return y;
    };
    HeadProblem small = p;
    small.S = P;
    small.key = shorter(*key_map_, p.key, p.K);
    small.value = shorter(*value_map_, p.value, p.V);
    small.visible = [&p, P](Index t) { return p.visible(t).empty() ? Interval{} : Interval{0, P}; };
    return softmax_reference(small, scale_);
  }

 private:
  // [P, longest] times [B, H, S, K] -> [B, H, P, K], over the first S columns of the map.
  Var shortened(Tape& tape, Parameter& map, const Var& rows) const {
    const Index S = rows.shape()[2], P = map.shape()[0];
    check(S <= shape_.longest, "linformer: a sentence of ", S, " tokens, but its length maps end at ",
          shape_.longest, " (positions.max_length)");
    return batched_matmul(reshape(slice(tape.leaf(map), 1, 0, S), {1, 1, P, S}), rows);
  }

  // 1 for queries that see their sentence, 0 for those whose sentence has no keys.
  Var seen_rows(Tape& tape, const Mask& mask, DType type) const {
    const Index B = mask.queries.count(), T = mask.queries.longest();
    std::vector<double> seen(static_cast<std::size_t>(B * T), 0.0);
    for (Index b = 0; b < B; ++b)
      for (Index t = 0; t < mask.queries.length(b); ++t)
        seen[static_cast<std::size_t>(b * T + t)] = mask.visible(b, t).empty() ? 0 : 1;
    return tape.constant(Tensor::from({B, 1, T, 1}, type, seen));
  }

  AttentionShape shape_;
  double scale_;
  Dropout dropout_;
  Parameter* key_map_;
  Parameter* value_map_;
};

struct LinformerSpec final : AttentionSpec {
  std::int64_t projected = 64;
  bool share = false;
  void own_fields(Fields& f) override {
    f("projected", projected, at_least(1), "rows that keys and values are projected to", "tokens");
    f("share", share, "one map for keys and values");
  }
  Promises promises() const override {
    return {.causal = false,
            .intervals = false,
            .incremental = false,
            .key_permutation = false,
            .exact = false,
            .cost = "T projected"};
  }
  std::unique_ptr<AttentionKind> build(const Scope& scope, const AttentionShape& shape) const override {
    return std::make_unique<Linformer>(scope, shape, projected, share);
  }
};

const Registered<AttentionSpec, LinformerSpec> registered{"linformer",
                                                          "keys and values projected to a fixed length"};

}  // namespace
}  // namespace attnlab
