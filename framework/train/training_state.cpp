#include "train/training_state.h"

#include <cmath>

namespace attnlab {
namespace {

// One list of the fields, for both directions. `visit` gets a name and a member.
template <class State, class Visit>
void each_field(State& state, Visit&& visit) {
  visit("step", state.step);
  visit("updates", state.updates);
  visit("epoch", state.epoch);
  visit("batch", state.batch);
  visit("tokens_seen", state.tokens_seen);
  visit("precision", state.precision);
  visit("isa", state.isa);
  visit("data", state.data);
  visit("batch_tokens", state.batch_tokens);
  visit("training_seconds", state.training_seconds);
  visit("best_step", state.best.step);
  visit("validations_without_gain", state.best.validations_without_gain);
  visit("skipped_updates", state.skipped.total);
  visit("skipped_in_a_row", state.skipped.in_a_row);
  visit("interval_smoothed", state.interval.smoothed);
  visit("interval_nll", state.interval.nll);
  visit("interval_tokens", state.interval.tokens);
  visit("interval_source_tokens", state.interval.source_tokens);
  visit("interval_correct", state.interval.correct);
  visit("interval_seconds", state.interval_seconds);
  visit("validation_due", state.validation_due);
}

template <class T>
T value_of(const Record& record, const char* name) {
  const RecordValue* value = record.find(name);
  if (value == nullptr) throw IoError(join_text("'", name, "' is missing"));
  if constexpr (std::is_same_v<T, double>) {
    return record.number(name);
  } else {
    const T* plain = std::get_if<T>(value);
    if (plain == nullptr) throw IoError(join_text("'", name, "' has the wrong type"));
    return *plain;
  }
}

}  // namespace

Record to_record(const TrainingState& state) {
  Record record;
  each_field(state, [&record](const char* name, const auto& member) { record.set(name, member); });
  record.set("seed", static_cast<std::int64_t>(state.seed));
  if (state.best.score) record.set("best_score", *state.best.score);
  return record;
}

TrainingState training_state(const Record& record) {
  TrainingState state;
  each_field(state, [&record](const char* name, auto& member) {
    member = value_of<std::decay_t<decltype(member)>>(record, name);
  });
  state.seed = static_cast<std::uint64_t>(value_of<std::int64_t>(record, "seed"));
  // Earlier programs also wrote scores that are not finite, for which JSON has no number.
  if (record.find("best_score") != nullptr && std::isfinite(record.number("best_score")))
    state.best.score = record.number("best_score");
  return state;
}

}  // namespace attnlab
