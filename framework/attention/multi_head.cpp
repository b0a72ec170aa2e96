#include "attention/multi_head.h"

#include "config/error.h"
#include "ops/elementwise.h"
#include "ops/gate_heads.h"
#include "ops/repeat_heads.h"

namespace attnlab {
namespace {

AttentionShape shape_of(const Scope& scope, const AttentionSpec& spec, const MultiHeadAttention::Plan& plan) {
  AttentionShape shape;
  shape.H = spec.heads.value_or(plan.heads);
  if (!spec.key_width && plan.width % shape.H != 0)
    throw ConfigError(scope.path + ": width " + std::to_string(plan.width) + " is not divisible by " +
                      std::to_string(shape.H) + " heads; set key_width");
  shape.K = spec.key_width.value_or(plan.width / shape.H);
  shape.V = spec.value_width.value_or(shape.K);
  if (plan.heads_left.value_or(0) > shape.H)
    throw ConfigError(join_text(scope.path, ": ", *plan.heads_left, " heads cannot be left of ", shape.H));
  shape.H = plan.heads_left.value_or(shape.H);
  shape.longest = plan.longest;
  shape.dropout = plan.dropout;
  shape.causal = plan.causal;
  return shape;
}

Index key_value_heads_of(const Scope& scope, const AttentionSpec& spec, Index H, bool removed) {
  const Index shared = spec.key_value_heads.value_or(H);
  if (spec.key_value_heads && removed)
    throw ConfigError(scope.path + ": heads that share keys and values cannot be removed");
  if (shared > 0 && H % shared != 0)
    throw ConfigError(scope.path + ": " + std::to_string(H) + " heads cannot share " +
                      std::to_string(shared) + " key and value heads evenly");
  return shared;
}

bool all_ones(const Tensor& gates) {
  for (const double gate : gates.to_doubles())
    if (gate != 1) return false;
  return true;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const AttentionSpec& spec, const Plan& plan)
    : path_(scope.path),
      name_(Registry<AttentionSpec>::name_of(spec)),
      promises_(spec.promises()),
      shape_(shape_of(scope, spec, plan)),
      key_value_heads_(key_value_heads_of(scope, spec, shape_.H, plan.heads_left.has_value())),
      width_(plan.width) {
  if (plan.causal && !promises_.causal)
    throw ConfigError(path_ + ": attention kind '" + name_ +
                      "' cannot hide the future, but this place needs it");
  if (shape_.H == 0) {
    keep_bias_alone(scope, plan.output_bias.value_or(plan.biases));
    return;
  }
  kind_ = spec.build(scope, shape_);
  wanted_ = kind_->projections();
  if (!wanted_.output) return;
  if (wanted_.shared_query_key && key_value_heads_ != shape_.H)
    throw ConfigError(path_ + ": attention kind '" + name_ + "' has one weight for queries and keys; " +
                      "key_value_heads must be unset");
  declare_projections(scope, plan.width, plan.biases);
  output_ = Affine(scope / "output", shape_.H * shape_.V, plan.width, plan.output_bias.value_or(plan.biases),
                   scope.init.output_gain * plan.output_gain);
  gates_ = &scope.parameters.add_buffer(scope.path + ".gates", {shape_.H}, constant_fill(1));
  if (plan.positions == nullptr || plan.positions->kind != PositionKind::rotary || !wanted_.query) return;
  if (shape_.K % 2 != 0)
    throw ConfigError(path_ +
                      ": rotary positions turn pairs of columns, so the key width must be even, not " +
                      std::to_string(shape_.K));
  rotary_.emplace(*plan.positions);
}

void MultiHeadAttention::declare_projections(const Scope& scope, Index width, bool biases) {
  const Index queries = shape_.H * shape_.K;
  const Index keys = key_value_heads_ * shape_.K, values = key_value_heads_ * shape_.V;
  std::vector<AffinePlan> plans;
  std::vector<Affine*> places;
  if (wanted_.query) {
    plans.push_back({wanted_.shared_query_key ? "query_key" : "query", queries, scope.init.query_key_gain});
    places.push_back(&query_);
  }
  if (wanted_.key && !wanted_.shared_query_key) {
    plans.push_back({"key", keys, scope.init.query_key_gain});
    places.push_back(&key_);
  }
  if (wanted_.value) {
    plans.push_back({"value", values, scope.init.value_gain});
    places.push_back(&value_);
  }
  const auto maps = affine_group(scope, width, biases, plans);
  for (std::size_t i = 0; i < maps.size(); ++i) *places[i] = maps[i];
  if (wanted_.shared_query_key) key_ = query_;
}

HeadRows MultiHeadAttention::project(const Var& queries, const Var& memory, const Mask& mask) const {
  HeadRows rows;
  if (queries.value().raw() != memory.value().raw()) {
    if (query_) rows.query = query_(queries, mask.queries.first_row);
    const Memory projected = keys_and_values(memory, mask.keys.first_row);
    rows.key = projected.key;
    rows.value = projected.value;
    return rows;
  }
  std::vector<const Affine*> maps;
  std::vector<Var*> places;
  const auto want = [&](const Affine& map, Var& place) {
    if (!map) return;
    maps.push_back(&map);
    places.push_back(&place);
  };
  want(query_, rows.query);
  if (!wanted_.shared_query_key) want(key_, rows.key);
  want(value_, rows.value);
  const auto parts = apply_group(queries, maps, mask.queries.first_row);
  for (std::size_t i = 0; i < parts.size(); ++i) *places[i] = parts[i];
  if (wanted_.shared_query_key) rows.key = rows.query;
  return rows;
}

HeadRows MultiHeadAttention::observed(const HeadRows& rows) const {
  return {Tape::observe(path_, "query", rows.query), Tape::observe(path_, "key", rows.key),
          Tape::observe(path_, "value", rows.value)};
}

Var MultiHeadAttention::project_queries(const Var& queries) const {
  return query_ ? Tape::observe(path_, "query", query_(queries)) : Var();
}

// Key and value heads that several query heads share, written out for each of them.
MultiHeadAttention::Memory MultiHeadAttention::shared_out(Memory memory) const {
  const Index times = shape_.H / key_value_heads_;
  if (memory.key && times > 1) memory.key = repeat_heads(memory.key, key_value_heads_, times);
  if (memory.value && times > 1) memory.value = repeat_heads(memory.value, key_value_heads_, times);
  return memory;
}

// Projected rows as the core wants them: turned by their places, one key head for each query head. Key s of a
// sentence stands at key_past + s.
HeadRows MultiHeadAttention::placed(HeadRows rows, const Mask& mask,
                                    const std::vector<Index>& key_past) const {
  if (rotary_) {
    rows.query = (*rotary_)(rows.query, shape_.H, mask.queries, mask.past);
    if (rows.key) rows.key = (*rotary_)(rows.key, key_value_heads_, mask.keys, key_past);
  }
  const Memory memory = shared_out({rows.key, rows.value});
  return observed({rows.query, memory.key, memory.value});
}

MultiHeadAttention::Memory MultiHeadAttention::keys_and_values(const Var& memory, Index first_row) const {
  if (key_ && value_ && !wanted_.shared_query_key) {
    const auto parts = apply_group(memory, {&key_, &value_}, first_row);
    return {parts[0], parts[1]};
  }
  Memory result;
  if (key_) result.key = key_(memory, first_row);
  if (value_) result.value = value_(memory, first_row);
  return result;
}

MultiHeadAttention::Memory MultiHeadAttention::project_memory(const Var& memory) const {
  if (!wanted_.output) return {};  // no heads, so none that share keys and values
  const Memory shared = shared_out(keys_and_values(memory, 0));  // in decoding: no dropout
  const HeadRows rows = observed({{}, shared.key, shared.value});
  return {rows.key, rows.value};
}

Var MultiHeadAttention::finish(Tape& tape, const Var& rows, Index count, const Mask& mask) const {
  if (!wanted_.output) return rows;
  check(rows.shape() == Shape{count, shape_.H * shape_.V}, path_, ": the attention core gave rows ",
        rows.shape(), ", expected ", Shape{count, shape_.H * shape_.V});
  const Var heads = Tape::observe(path_, "heads", rows);
  const bool plain = !gates_->trainable() && all_ones(gates_->compute());
  return output_(plain ? heads : gate_heads(heads, tape.leaf(*gates_)), mask.queries.first_row);
}

void MultiHeadAttention::refuse_unpromised(const Mask& mask) const {
  check(promises_.causal || !mask.causal, path_, ": attention kind '", name_,
        "' cannot hide the future, but the mask does");
  check(promises_.intervals || (mask.band < 0 && mask.intervals.empty()), path_, ": attention kind '", name_,
        "' cannot hide some keys of a sentence, but the mask does");
}

void MultiHeadAttention::keep_bias_alone(const Scope& scope, bool biases) {
  kind_ = Registry<AttentionSpec>::make("none")->build(scope, shape_);
  wanted_ = kind_->projections();
  if (biases)
    bias_alone_ = &scope.parameters.add(scope.path + ".output.bias", {width_}, constant_fill(0), false);
}

// What a kind without an output adds.
Var MultiHeadAttention::nothing(const Var& queries) const {
  Tape& tape = queries.tape();
  const Var zeros = tape.constant(Tensor::zeros({queries.shape()[0], width_}, queries.type()));
  return bias_alone_ == nullptr ? zeros : add(zeros, tape.leaf(*bias_alone_));
}

Var MultiHeadAttention::operator()(const Var& queries, const Var& memory, const Mask& mask) const {
  refuse_unpromised(mask);
  Tape& tape = queries.tape();
  const Tape::Scope scope(tape, path_);
  if (!wanted_.output) return nothing(queries);
  return finish(tape, kind_->forward(tape, placed(project(queries, memory, mask), mask, {}), mask),
                queries.shape()[0], mask);
}

std::unique_ptr<AttentionState> MultiHeadAttention::start(Index count) const {
  check(promises_.incremental, path_, ": attention kind '", name_, "' cannot decode step by step");
  return kind_->start(count);
}

Var MultiHeadAttention::step(const Var& queries, const Mask& mask, AttentionState& state) const {
  refuse_unpromised(mask);
  Tape& tape = queries.tape();
  const Tape::Scope scope(tape, path_);
  if (!wanted_.output) return nothing(queries);
  const HeadRows rows = placed(project(queries, queries, mask), mask, mask.past);
  return finish(tape, kind_->step(tape, rows, mask, state), queries.shape()[0], mask);
}

Var MultiHeadAttention::attend_memory(const Var& queries, const Memory& memory, const Mask& mask) const {
  refuse_unpromised(mask);
  Tape& tape = queries.tape();
  const Tape::Scope scope(tape, path_);
  if (!wanted_.output) return nothing(queries);
  const HeadRows rows{project_queries(queries), memory.key, memory.value};
  return finish(tape, kind_->forward(tape, rows, mask), queries.shape()[0], mask);
}

}  // namespace attnlab
