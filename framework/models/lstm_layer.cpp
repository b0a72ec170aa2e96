#include "models/lstm_layer.h"

namespace attnlab {
namespace {

class RecurrentState final : public AttentionState {
 public:
  void reorder(const std::vector<Index>& parents) override {
    for (Tensor* part : {&state.hidden, &state.cell}) {
      if (!*part) continue;  // nothing was read yet
      const Tensor old = *part, now({static_cast<Index>(parents.size()), old.columns()}, old.type());
      for (std::size_t i = 0; i < parents.size(); ++i)
        now.row_view(static_cast<Index>(i), 1).copy_from(old.row_view(parents[i], 1));
      *part = now;
    }
  }
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const Tensor* part : {&state.hidden, &state.cell})
      if (*part) sum += static_cast<std::size_t>(part->count() * size_of(part->type()));
    return sum;
  }
  LstmState state;
};

}  // namespace

LstmLayer::LstmLayer(const Scope& scope, const StackSpec& spec, Index width)
    : path_(scope.path),
      sublayer_(scope / "lstm", sublayer_plan(spec, spec.skip.attention, spec.skip.attention_scale), width),
      lstm_(scope / "lstm", width) {
  if (!spec.mlp.on) return;
  mlp_sublayer_.emplace(scope / "mlp", sublayer_plan(spec, spec.skip.mlp, spec.skip.mlp_scale), width);
  mlp_.emplace(scope / "mlp", mlp_plan(spec, width, false));
}

Var LstmLayer::through(const Var& x, const Sequences& rows, LstmState* state) const {
  const Index first = rows.first_row;
  const Var y =
      sublayer_.around(x, first, [this, &rows, state](const Var& in) { return lstm_(in, rows, state); });
  return mlp_ ? mlp_sublayer_->around(y, first, [this, first](const Var& in) { return (*mlp_)(in, first); })
              : y;
}

Var LstmLayer::forward(const Var& x, const Sequences& rows) const { return through(x, rows, nullptr); }

std::unique_ptr<AttentionState> LstmLayer::start(Index) const { return std::make_unique<RecurrentState>(); }

Var LstmLayer::step(const Var& x, const Sequences& rows, AttentionState& state) const {
  return through(x, rows, &dynamic_cast<RecurrentState&>(state).state);
}

}  // namespace attnlab
