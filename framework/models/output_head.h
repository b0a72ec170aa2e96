// From the rows of a stack to logits: for every row, or for rows taken from each sentence (its last ones, its
// first, the mean of all).
#pragma once

#include "core/sequences.h"
#include "models/spec.h"
#include "nn/affine.h"
#include "ops/cross_entropy.h"

namespace attnlab {

// What the task wants to know of each example where the head is pooled.
struct AnswerShape {
  Index labels = 1;  // labels per example
  Index rows = 1;    // last rows that they stand on, unless head.rows says otherwise
};

class OutputHead {
 public:
  OutputHead() = default;
  // A pooled head gets a weight of its own, [labels of a row * classes, D]. ConfigError where the rows do not
  // divide the labels.
  OutputHead(const Scope& root, const ModelSpec& spec, const AnswerShape& answers, Index classes);
  // A head over `table` [V, D], which may be an embedding.
  OutputHead(const Scope& root, const ModelSpec& spec, Parameter& table);

  // The rows that are mapped: all, or those that the head takes from each sentence. ShapeError for a sentence
  // with fewer rows than it takes.
  Var pool(const Var& x, const Sequences& rows) const;
  // Rows of pool() to logits, one row for each label.
  Var operator()(const Var& rows) const;
  // The loss of those logits. They are worked out in tiles where each row has one label, so that the matrix
  // of all of them is not read and written again and again.
  CrossEntropy loss(const Var& rows, const std::vector<std::int32_t>& labels,
                    const CrossEntropyOptions& options) const;
  Index classes() const { return classes_; }

 private:
  Var transformed(const Var& rows) const;
  void add_transform(const Scope& root, const ModelSpec& spec);
  Pooling pool_ = Pooling::none;
  Index last_ = 1, classes_ = 0;
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
  Affine transform_;
  Norm transform_norm_;
  Activation activation_ = Activation::gelu;
};

}  // namespace attnlab
