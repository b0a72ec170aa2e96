#include "train/build_model.h"

#include <algorithm>

#include "config/error.h"
#include "kernels/cpu.h"

namespace attnlab {

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

void check_fit(const ExperimentSpec& spec, const Task& task) {
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
