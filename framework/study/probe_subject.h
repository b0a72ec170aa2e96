// What a probe looks at: a model, and sentences to run through it.
#pragma once

#include <filesystem>
#include <functional>

#include "data/batches.h"
#include "data/tokenizer.h"
#include "train/trained_model.h"

namespace attnlab {

struct ProbeSubject {
  Transformer& model;
  const ParameterSet& parameters;
  const Tokenizer* source = nullptr;  // null for a language model
  const Tokenizer* target = nullptr;  // for the text of tokens
  std::vector<Example> examples{};    // what is measured on
  Corpus scored{};                    // what the model is scored on, by a probe that scores it; may be empty
  std::string metric = "log_likelihood";
  DecodeSpec decode{};
  std::uint64_t seed = 1;     // of what a probe draws
  Index batch_tokens = 1024;  // rows at once; changes no result
};

// The examples batch by batch, in their order. `first` is the number of the batch's first example. The
// model's observers begin again (restart() in activations.h): another pass sees the same.
void for_each_batch(const ProbeSubject& subject,
                    const std::function<void(const ModelInput& input, Index first)>& use);

// Where the sentences lie that a stack reads: the decoder's or the encoder's. A decoder with a pooled head
// reads the source; its targets are the answers.
const Sequences& rows_read(const ModelSpec& spec, bool decoder, const ModelInput& input);

// The tokens of an example as text: what the encoder reads, what the decoder reads. Of vectors, which are no
// text, their places from 1.
std::vector<std::string> source_pieces(const ProbeSubject& subject, const Example& example);
std::vector<std::string> target_pieces(const ProbeSubject& subject, const Example& example);

// A trained model as probes want it: in this precision, without dropout. `assignments` as of --set;
// `initial`: the weights that training began with, drawn by the seed or from what model.from names. Throws as
// load_trained_model does; IoError, too, where the latter is no longer there.
TrainedModel load_for_probing(const std::filesystem::path& run, DType precision,
                              std::vector<std::string> assignments = {}, bool initial = false);

// The model without sentences; metric and decoding are those of the run.
ProbeSubject subject_of(TrainedModel& trained);

// The first `count` sentences of a split ("valid", "train" or the name of a test set). Throws ConfigError if
// there is no such split.
Corpus split_of(const Task& task, const std::string& split, Index count);

// Lines of one's own: "source", or "source<TAB>target"; a language model takes the whole line. Where there is
// no target, the model's own output is taken, and the log says so. References are the targets as given; none
// where a line has no target. What a classifier of texts reads of a line is what train/predict.h makes of it,
// and its targets are labels. Throws DataError with the line's number for a line without words, or with a
// label that there is not; ConfigError for a classifier that does not label lines of text.
Corpus text_corpus(const TrainedModel& trained, const std::vector<std::string>& lines);

// Which sentences a probe runs on: lines of a file, or a split of the run's task.
struct SentenceChoice {
  std::string text;  // a file; empty: the split
  std::string split = "valid";
  Index count = 64;  // of the split, at most
};
// Puts them into the subject, and what is scored, by which metric: the same text, by its likelihood or the
// labels given with it; or the task's first test set, by the task's metric.
void choose_sentences(const TrainedModel& trained, const SentenceChoice& choice, ProbeSubject& subject);

}  // namespace attnlab
