#include "attention/properties_subject.h"

#include "config/error.h"
#include "config/spec.h"

namespace attnlab {
namespace {

constexpr Index kLongestSmall = 8, kLongestLarge = 140;

std::string own_keys(AttentionSpec& spec) {
  return write_fields([&spec](Fields& f) { spec.own_fields(f); }, nullptr);
}

// A copy of the spec with one key of its own set; null if the value does not fit.
std::shared_ptr<AttentionSpec> with_key(const AttentionSpec& spec, const std::string& assignment) {
  auto result = Registry<AttentionSpec>::clone(spec);
  try {
    read_fields(Tree::load({}, {assignment}), [&result](Fields& f) { result->own_fields(f); });
  } catch (const ConfigError&) {
    return nullptr;
  }
  return result;
}

// The same, but null too if nothing changed.
std::shared_ptr<AttentionSpec> changed(AttentionSpec& spec, const std::string& assignment) {
  const auto result = with_key(spec, assignment);
  return result && own_keys(*result) != own_keys(spec) ? result : nullptr;
}

bool builds(const Subject& subject, const Dimensions& dimensions) {
  Subject trial = subject;
  trial.small = dimensions;
  try {
    const Rig rig(trial, {});
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

// Chooses odd sizes, or even ones where the kind refuses those. False if it takes neither.
bool choose_dimensions(Subject& subject) {
  subject.small = {7, 3, 5, 4};
  subject.large = {33, 2, 17, 19};
  if (builds(subject, subject.small) && builds(subject, subject.large)) return true;
  subject.small = {8, 2, 4, 4};
  subject.large = {32, 2, 16, 16};
  return builds(subject, subject.small) && builds(subject, subject.large);
}

std::vector<std::string> candidates(const FieldDoc& field) {
  if (!field.choices.empty()) return field.choices;
  return {"2", "3", "1", "true", "false", "0.5"};
}

Mask mask_of(const std::vector<Index>& queries, const std::vector<Index>& keys, bool causal = false) {
  Mask mask;
  mask.queries = Sequences::of_lengths(queries);
  mask.keys = Sequences::of_lengths(keys);
  mask.causal = causal;
  return mask;
}

Situation self(const std::string& name, const std::vector<Index>& lengths, bool causal = false) {
  return {name, mask_of(lengths, lengths, causal), true};
}

Situation banded(const std::vector<Index>& lengths, Index band) {
  Situation situation = self("band", lengths);
  situation.mask.band = band;
  return situation;
}

// Queries that come after others, as in decoding.
Situation continued(const std::vector<Index>& queries, const std::vector<Index>& keys) {
  Situation situation{"causal with past", mask_of(queries, keys, true), false};
  for (std::size_t b = 0; b < queries.size(); ++b) situation.mask.past.push_back(keys[b] - queries[b]);
  return situation;
}

}  // namespace

std::vector<Subject> subjects(const std::string& kind) {
  std::vector<Subject> all{{kind, "", Registry<AttentionSpec>::make(kind), {}, {}}};
  AttentionSpec& spec = *all.front().spec;
  if (!choose_dimensions(all.front())) {
    all.front().small = {8, 2, 4, 4};
    const Rig rig(all.front(), {});  // says why not
  }
  for (const FieldDoc& field : describe_fields([&spec](Fields& f) { spec.own_fields(f); }))
    for (const std::string& value : candidates(field)) {
      Subject variant{kind, field.path + "=" + value + ": ", changed(spec, field.path + "=" + value), {}, {}};
      if (!variant.spec || !choose_dimensions(variant)) continue;
      all.push_back(variant);
      if (field.choices.empty()) break;
    }
  return all;
}

std::vector<std::string> keys_without_effect(const std::string& kind) {
  const auto spec = Registry<AttentionSpec>::make(kind);
  std::vector<std::string> dead;
  for (const FieldDoc& field : describe_fields([&spec](Fields& f) { spec->own_fields(f); })) {
    int accepted = 0, effective = 0;
    for (const std::string& value : candidates(field)) {
      if (value == field.value || !with_key(*spec, field.path + "=" + value)) continue;
      ++accepted;
      if (changed(*spec, field.path + "=" + value)) ++effective;
    }
    if (accepted > 0 && effective == 0) dead.push_back(field.path);
  }
  return dead;
}

Rig::Rig(const Subject& subject, const RigPlan& rig_plan)
    : plan(rig_plan), dimensions(rig_plan.large ? subject.large : subject.small) {
  const auto spec = Registry<AttentionSpec>::clone(*subject.spec);
  spec->heads = dimensions.heads;
  spec->key_width = dimensions.key_width;
  spec->value_width = dimensions.value_width;
  const MultiHeadAttention::Plan attention_plan{
      dimensions.width, dimensions.heads, plan.large ? kLongestLarge : kLongestSmall,
      plan.dropout,     plan.causal,      true};
  attention =
      std::make_unique<MultiHeadAttention>(Scope{parameters, init, "attention"}, *spec, attention_plan);
  parameters.finalise(plan.type, 3, [](const Parameter&) { return true; });
  for (const auto& parameter : parameters.all()) {
    if (parameter.get() == attention->gates()) continue;
    const Random random(7, stream_name(parameter->name()));
    std::vector<double> values = parameter->value().to_doubles();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.1 * random.normal(i);
    parameter->value().copy_from(Tensor::from(parameter->shape(), parameters.master_type(), values));
  }
  parameters.refresh_compute();
}

std::vector<Situation> small_situations(const Promises& promises) {
  std::vector<Situation> all{self("self", {5, 1, 4}), {"cross", mask_of({4, 1, 3, 2}, {2, 5, 0, 3}), false}};
  if (promises.causal) {
    all.push_back(self("causal", {5, 3, 1}, true));
    all.push_back(continued({2, 3}, {6, 4}));
  }
  if (promises.intervals) {
    all.push_back(banded({6, 3}, 1));
    all.push_back(self("intervals", {4, 3}));
    all.back().mask.intervals = {{1, 3}, {2, 2}, {0, 4}, {3, 9}, {0, 1}, {1, 3}, {2, 1}};
  }
  return all;
}

std::vector<Situation> large_situations(const Promises& promises) {
  std::vector<Situation> all{self("long self", {67, 3, 30}),
                             {"long cross", mask_of({33, 5}, {70, 129}), false}};
  if (promises.causal) all.push_back(self("long causal", {131, 9}, true));
  if (promises.intervals) all.push_back(banded({90, 2}, 9));
  return all;
}

}  // namespace attnlab
