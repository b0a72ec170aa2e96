#include "models/output_head.h"

#include "config/error.h"
#include "ops/embedding.h"
#include "ops/mean_rows.h"
#include "ops/reshape.h"

namespace attnlab {
namespace {

const std::string kOutput = "output";  // in messages and profiles

}  // namespace

OutputHead::OutputHead(const Scope& root, const ModelSpec& spec, const AnswerShape& answers, Index classes)
    : pool_(spec.head.pool), classes_(classes) {
  if (pool_ == Pooling::last) last_ = spec.head.rows.value_or(answers.rows);
  if (answers.labels % last_ != 0)
    throw ConfigError(join_text("model.head.rows: ", last_, " rows cannot give ", answers.labels,
                                " labels an example evenly"));
  add_transform(root, spec);
  const Index out = answers.labels / last_ * classes;
  weight_ = &root.parameters.add("output.weight", {out, spec.width},
                                 weight_fill(root.init, spec.width, out, spec.head.gain));
  if (spec.head.bias) bias_ = &root.parameters.add("output.bias", {out}, constant_fill(0), false);
}

OutputHead::OutputHead(const Scope& root, const ModelSpec& spec, Parameter& table)
    : classes_(table.shape()[0]), weight_(&table) {
  add_transform(root, spec);
  if (spec.output_bias) bias_ = &root.parameters.add("output.bias", {classes_}, constant_fill(0), false);
}

void OutputHead::add_transform(const Scope& root, const ModelSpec& spec) {
  if (!spec.output_transform) return;
  const Scope scope = root / "output" / "transform";
  transform_ = Affine(scope, spec.width, spec.width, true, 1);
  transform_norm_ = Norm(scope / "norm", spec.stack.norm, spec.width);
  activation_ = spec.stack.mlp.activation;
}

Var OutputHead::pool(const Var& x, const Sequences& rows) const {
  if (pool_ == Pooling::none) return x;
  if (pool_ == Pooling::mean) return mean_rows(x, rows);
  std::vector<std::int32_t> taken;
  for (Index b = 0; b < rows.count(); ++b) {
    check(rows.length(b) >= last_, "the head takes ", last_, " rows of each sentence, but sentence ", b,
          " has ", rows.length(b));
    const Index first = pool_ == Pooling::cls ? 0 : rows.length(b) - last_;
    for (Index t = 0; t < last_; ++t) taken.push_back(static_cast<std::int32_t>(rows.offset(b) + first + t));
  }
  return embedding(x, taken, 1);
}

Var OutputHead::transformed(const Var& rows) const {
  return transform_ ? transform_norm_(activate(transform_(rows), activation_)) : rows;
}

Var OutputHead::operator()(const Var& rows) const {
  Tape& tape = rows.tape();
  const Tape::Scope scope(tape, kOutput);
  const Var y = linear(transformed(rows), tape.leaf(*weight_), bias_ != nullptr ? tape.leaf(*bias_) : Var());
  const Index columns = y.shape()[1];
  return columns == classes_ ? y : reshape(y, {y.shape()[0] * (columns / classes_), classes_});
}

CrossEntropy OutputHead::loss(const Var& rows, const std::vector<std::int32_t>& labels,
                              const CrossEntropyOptions& options) const {
  Tape& tape = rows.tape();
  const bool one_label_a_row = weight_->shape()[0] == classes_;
  const Var logits = one_label_a_row ? Var() : (*this)(rows);
  const Tape::Scope scope(tape, kOutput);
  if (!one_label_a_row) return cross_entropy(logits, labels, options);
  return projected_cross_entropy(transformed(rows), tape.leaf(*weight_),
                                 bias_ != nullptr ? tape.leaf(*bias_) : Var(), labels, options);
}

}  // namespace attnlab
