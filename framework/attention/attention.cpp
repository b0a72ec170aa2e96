#include "attention/attention.h"

#include "attention/cache.h"

namespace attnlab {

void AttentionSpec::fields(Fields& f) {
  f("heads", heads, at_least(1), "heads of this attention; unset: model.heads");
  f("key_width", key_width, at_least(1), "columns of a query and key per head (d_k); unset: width / heads");
  f("value_width", value_width, at_least(1), "columns of a value per head (d_v); unset: key_width");
  f("key_value_heads", key_value_heads, at_least(1),
    "heads of keys and values, each shared by several query heads; unset: one for each");
  own_fields(f);
}

std::unique_ptr<AttentionState> AttentionKind::start(Index count) const {
  return std::make_unique<KeyValueCache>(count);
}

Var AttentionKind::step(Tape& tape, const HeadRows& rows, const Mask& mask, AttentionState& state) const {
  auto& cache = dynamic_cast<KeyValueCache&>(state);
  cache.append(rows, mask.queries);
  Mask whole = mask;
  whole.keys = cache.keys();
  return forward(tape, {rows.query, tape.constant(cache.key()), tape.constant(cache.value())}, whole);
}

}  // namespace attnlab
