#include "train/evaluation.h"

#include "train/decode.h"
#include "train/scoring.h"

namespace attnlab {

SplitScores score_split(const Transformer& model, const Task& task, const std::string& name,
                        const Corpus& corpus, const DecodeSpec& spec, std::uint64_t seed) {
  SplitScores result;
  result.split = name;
  bool decoded = false;
  for (const std::string& metric : task.metrics) {
    if (metric == "perplexity") {
      const auto scores = score_reference(model, corpus.examples);
      result.scores.push_back({"perplexity", perplexity(scores), "", ""});
      continue;
    }
    if (!decoded && task.labels > 0) {
      for (const auto& labels : classify(model, corpus.examples))
        result.outputs.push_back(task.target->decode(labels));
      decoded = true;
    }
    if (!decoded) {
      std::vector<std::vector<Token>> inputs;
      for (const Example& example : corpus.examples) inputs.push_back(example.source);
      result.outputs =
          best_lines(decode(model, inputs, decode_options(spec, *task.target, seed)), *task.target);
      decoded = true;
    }
    result.scores.push_back(corpus_score(metric, result.outputs, corpus.references));
  }
  return result;
}

Record metrics_of(const SplitScores& scores, const std::vector<std::string>& metrics,
                  const std::string& prefix) {
  Record record;
  for (std::size_t i = 0; i < scores.scores.size(); ++i)
    record.set(prefix + metrics[i], scores.scores[i].value);
  return record;
}

}  // namespace attnlab
