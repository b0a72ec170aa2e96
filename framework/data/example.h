// Examples: what a task offers to the batcher. Ids are plain vectors; nothing here is padded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace attnlab {

using Token = std::int32_t;  // an entry of a vocabulary

// One training example. `target` is framed: the model reads target[0 .. n-1) and predicts target[1 .. n), so
// that a sentence is <s> y </s> and a block of running text has one token more than rows. `source` is what
// the encoder reads, </s> included; empty for a language model. Where a task wants labels of whole examples,
// `target` is some symbol and then the labels. Where its input are vectors, they stand in `vectors` instead
// of a source.
struct Example {
  std::vector<Token> source;
  std::vector<Token> target;
  std::vector<float> vectors;  // `vector_rows` rows, one after another
  Index vector_rows = 0;
  Index target_rows() const { return static_cast<Index>(target.size()) - 1; }
  Index source_rows() const { return vectors.empty() ? static_cast<Index>(source.size()) : vector_rows; }
};

// One split of a task. Lines are the raw text, in the order of the examples; both are empty for a language
// model.
struct Corpus {
  std::vector<Example> examples;
  std::vector<std::string> sources;     // what `translate` would be given
  std::vector<std::string> references;  // what a score compares with
  Index dropped = 0;                    // examples left out because they were too long
};

}  // namespace attnlab
