#include "models/stack_input.h"

#include <cmath>

#include "ops/embedding.h"

namespace attnlab {
namespace {

const std::string kEmbedding = "embedding";  // in messages and profiles

}  // namespace

StackInput::StackInput(const Scope& root, const Plan& plan) : table_(plan.table) {
  const ModelSpec& spec = plan.spec;
  const Index D = spec.width;
  if (spec.embedding_scale == EmbeddingScale::sqrt_width && table_ != nullptr)
    scale_ = std::sqrt(static_cast<double>(D));
  if (table_ == nullptr) {
    const Fill fill = spec.input.rule == InputRule::orthogonal
                          ? orthogonal_fill(D, plan.vector_width, spec.input.gain)
                          : weight_fill(root.init, plan.vector_width, D, spec.input.gain);
    map_ = Affine(root / "input", plan.vector_width, D, spec.input.bias, fill);
  }
  if (spec.token_types > 0)
    types_ = &root.parameters.add(plan.side + "_types.weight", {spec.token_types, D},
                                  normal_fill(root.init.embedding_gain / std::sqrt(static_cast<double>(D))));
  positions_.emplace(root / (plan.side + "_positions"), spec.positions, D);
  if (spec.embedding_norm) norm_ = Norm(root / (plan.side + "_embedding") / "norm", spec.stack.norm, D);
  dropout_ = {plan.dropout, stream_name(plan.side + "_positions.dropout")};
}

Var StackInput::vectors(Tape& tape, const Tensor& rows) const {
  check(static_cast<bool>(rows), "this model reads vectors, but got token ids");
  const DType type = map_.weight().compute().type();
  return map_(tape.constant(rows.type() == type ? rows : rows.converted(type)));
}

Var StackInput::operator()(Tape& tape, const TokenRows& read, const std::vector<Index>& past) const {
  const Tape::Scope scope(tape, kEmbedding);
  check(table_ == nullptr || !read.vectors, "this model reads token ids, but got vectors");
  Var x = table_ != nullptr ? embedding(tape.leaf(*table_), read.ids, scale_) : vectors(tape, read.vectors);
  if (types_ != nullptr) {
    const std::vector<std::int32_t> all_zero(static_cast<std::size_t>(x.shape()[0]), 0);
    const Var types = embedding(tape.leaf(*types_), read.types.empty() ? all_zero : read.types, 1);
    x = residual_sum(x, types, 1, {}, 0);
  }
  return dropout(norm_((*positions_)(x, read.rows, past)), dropout_, read.rows.first_row);
}

}  // namespace attnlab
