#include "train/build_model.h"

#include <algorithm>

#include "config/error.h"
#include "config/spec.h"
#include "kernels/cpu.h"

namespace attnlab {
namespace {

// By its name: whether a kind has length maps is no promise that it makes.
bool maps_lengths(const AttentionSpec* attention) {
  return attention != nullptr && Registry<AttentionSpec>::name_of(*attention) == "linformer";
}

// What cuts sentences to the room that there is; empty where the task has no such key.
std::string advice_to_cut(const TaskSpec& task, Index room) {
  for (const FieldDoc& field : describe(task))
    if (field.path == "max_tokens") return join_text("lower data.task.max_tokens to ", room, ", ");
  return "";
}

// Throws DataError if the longest source (or target) of all splits has more rows than the model has room for.
void check_longest(const DataSpec& data, const Task& task, const std::string& side,
                   Index (Example::*rows)() const, std::optional<Index> room) {
  if (!room) return;
  Index longest = *room;
  std::string where;
  const auto look_at = [&](const std::string& split, const Corpus& corpus) {
    for (std::size_t i = 0; i < corpus.examples.size(); ++i) {
      const Index length = (corpus.examples[i].*rows)();
      if (length <= longest) continue;
      longest = length;
      where = join_text(split, corpus.sources.empty() ? ", example " : ", line ", i + 1,
                        corpus.dropped > 0 ? " of those kept" : "");
    }
  };
  look_at("train", task.train);
  look_at("valid", task.valid);
  for (const NamedCorpus& test : task.tests) look_at(test.name, test.corpus);
  if (!where.empty())
    throw DataError(join_text(where, ": a ", side, " of ", longest,
                              " tokens as the model reads it, but it has room for ", *room, "; ",
                              advice_to_cut(*data.task, *room), "raise model.positions.max_length to ",
                              longest, ", or shorten the data"));
}

// Scores of no examples are none, and that would be found out only after training.
void check_tests(const Task& task) {
  for (const NamedCorpus& test : task.tests)
    if (test.corpus.examples.empty())
      throw DataError("the test split '" + test.name + "' has no examples, so it cannot be scored");
}

void check_kind(const ExperimentSpec& spec, const Task& task) {
  if (task.labels > 0 && !spec.model.pooled())
    throw ConfigError("model.head: this task wants labels of whole examples, so it needs last, cls or mean");
  if (task.labels == 0 && spec.model.pooled())
    throw ConfigError(
        "model.head: a pool gives labels of whole examples, but this task has none; say head: none");
  if (spec.model.pooled()) return;
  const bool language_model = task.source == nullptr;
  if (language_model != !spec.model.has_encoder())
    throw ConfigError(
        language_model ? "model.kind: this task has no source, so it needs kind: decoder"
                       : "model.kind: this task has a source, so it needs kind: encoder_decoder or encoder");
  if (spec.model.has_decoder()) return;
  for (std::size_t i = 0; i < task.train.examples.size(); ++i) {
    const Example& example = task.train.examples[i];
    if (example.source_rows() != example.target_rows())
      throw DataError(join_text("an encoder gives one label per source token, but training example ", i + 1,
                                " has ", example.source_rows(), " source tokens and ", example.target_rows(),
                                " labels"));
  }
}

}  // namespace

PrecisionChoice choose_precision(Precision wanted) {
  const bool native = kernels::has_native_bf16();
  const std::string isa = kernels::isa_name();
  switch (wanted) {
    case Precision::f32:
      return {DType::f32, "f32, as asked"};
    case Precision::f64:
      return {DType::f64, "f64, as asked: plain loops, slow"};
    case Precision::bf16:
      return {DType::bf16,
              native ? "bf16, as asked; this CPU multiplies it (" + isa + ")"
                     : "bf16, as asked; WARNING: this CPU (" + isa +
                           ") does not multiply it, so products are widened to f32: slower than f32"};
    case Precision::automatic:
      break;
  }
  if (native) return {DType::bf16, "bf16, chosen because this CPU multiplies it (" + isa + ")"};
  return {DType::f32, "f32, chosen because this CPU (" + isa + ") does not multiply bf16"};
}

VocabularySizes vocabulary_of(const Task& task) {
  return {task.source ? task.source->size() : 0,
          task.target->size(),
          task.joint(),
          task.vector_width,
          {std::max<Index>(task.labels, 1), task.label_rows}};
}

std::unique_ptr<BuiltModel> build_model(const ExperimentSpec& spec, const VocabularySizes& vocabulary,
                                        DType type, bool training, InitialValues values) {
  auto built = std::make_unique<BuiltModel>();
  built->model = std::make_unique<Transformer>(built->parameters, spec.model, vocabulary);
  const auto frozen = [](const Parameter&) { return false; };
  built->parameters.finalise(type, static_cast<std::uint64_t>(spec.seed),
                             training ? select_trainable(spec.train.which, built->parameters) : frozen,
                             values);
  return built;
}

LongestInput longest_input(const ModelSpec& spec) {
  LongestInput longest;
  const Index room = spec.positions.max_length;
  const bool reads_target = spec.has_decoder() && !spec.pooled();
  if (spec.positions.kind == PositionKind::learned) {
    if (spec.has_encoder() || spec.pooled()) longest.source = room;
    if (reads_target) longest.target = room;
  }
  const bool attends = spec.encoder.layers > 0 && spec.encoder.backbone == Backbone::attention;
  const bool looks_at_source = spec.has_decoder() && spec.decoder.layers > 0;
  if (spec.has_encoder() && ((attends && maps_lengths(spec.encoder.attention.get())) ||
                             (looks_at_source && maps_lengths(spec.cross_attention.get()))))
    longest.source = room;
  return longest;
}

void check_fit(const ExperimentSpec& spec, const Task& task) {
  check_kind(spec, task);
  check_tests(task);
  const LongestInput longest = longest_input(spec.model);
  check_longest(spec.data, task, "source", &Example::source_rows, longest.source);
  check_longest(spec.data, task, "target", &Example::target_rows, longest.target);
}

TokenRows source_of(const Batch& batch) {
  TokenRows source{batch.source, batch.source_rows};
  const Index rows = batch.source_rows.rows();
  if (batch.vectors.empty()) return source;
  source.vectors = Tensor({rows, static_cast<Index>(batch.vectors.size()) / rows}, DType::f32);
  std::copy(batch.vectors.begin(), batch.vectors.end(), source.vectors.data<float>());
  return source;
}

ModelInput input_of(const Batch& batch, ModelKind kind) {
  ModelInput input;
  if (kind != ModelKind::decoder || batch.source_rows.rows() > 0) input.source = source_of(batch);
  if (kind != ModelKind::encoder) input.target = {batch.target_in, batch.target_rows};
  input.labels = batch.target_out;
  input.hidden = batch.features;
  return input;
}

}  // namespace attnlab
