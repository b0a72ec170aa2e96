// Scores of a trained model on the splits of a task: likelihood by forced scoring, text by decoding, labels
// by the most likely one.
#pragma once

#include <string>
#include <vector>

#include "data/task.h"
#include "models/transformer.h"
#include "train/decode_spec.h"
#include "train/record.h"
#include "train/score.h"

namespace attnlab {

struct SplitScores {
  std::string split;
  std::vector<Score> scores;         // one per metric of the task, in its order
  std::vector<std::string> outputs;  // what was decoded, line by line; empty for a language model
};

// Decodes a split and scores it by the task's metrics ("perplexity" by forced scoring). Throws DataError.
SplitScores score_split(const Transformer& model, const Task& task, const std::string& name,
                        const Corpus& corpus, const DecodeSpec& spec, std::uint64_t seed);

// As columns: prefix + "bleu", …
Record metrics_of(const SplitScores& scores, const std::vector<std::string>& metrics,
                  const std::string& prefix);

}  // namespace attnlab
