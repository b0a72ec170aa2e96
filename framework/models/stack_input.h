// What a stack reads: token embeddings or a linear map of vectors, with token types, positions, a norm and
// dropout, in this order.
#pragma once

#include <optional>

#include "models/spec.h"
#include "nn/affine.h"
#include "ops/dropout.h"

namespace attnlab {

// What is read and where its sentences lie: ids, or vectors in a model of vectors.
struct TokenRows {
  std::vector<std::int32_t> ids;
  Sequences rows;
  std::vector<std::int32_t> types = {};  // of each row, where the model has token types; empty: all 0
  Tensor vectors = {};                   // [N, width of the input] instead of ids
};

class StackInput {
 public:
  StackInput() = default;
  // `side`: "source" or "target"; `table` holds the token embeddings, nullptr for a model of vectors of
  // `vector_width` columns.
  struct Plan {
    const ModelSpec& spec;
    std::string side;
    Parameter* table = nullptr;
    Index vector_width = 0;
    double dropout = 0;
  };
  StackInput(const Scope& root, const Plan& plan);
  explicit operator bool() const { return positions_.has_value(); }

  // -> [N, D]. `past` as in Positions. ShapeError for ids or types outside their tables, and where vectors
  // are wanted but not given, or the other way round.
  Var operator()(Tape& tape, const TokenRows& read, const std::vector<Index>& past) const;

 private:
  Var vectors(Tape& tape, const Tensor& rows) const;
  double scale_ = 1;
  Parameter* table_ = nullptr;
  Parameter* types_ = nullptr;
  Affine map_;
  std::optional<Positions> positions_;
  Norm norm_;
  Dropout dropout_;
};

}  // namespace attnlab
