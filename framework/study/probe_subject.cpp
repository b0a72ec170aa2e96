#include "study/probe_subject.h"

#include <numeric>

#include "config/error.h"
#include "data/files.h"
#include "study/activations.h"
#include "train/starting_weights.h"

namespace attnlab {
namespace {

std::vector<std::string> pieces(const Tokenizer* tokenizer, std::span<const Token> ids) {
  std::vector<std::string> result;
  for (const Token id : ids) result.push_back(tokenizer->piece(id));
  return result;
}

}  // namespace

void for_each_batch(const ProbeSubject& subject,
                    const std::function<void(const ModelInput& input, Index first)>& use) {
  restart(subject.model);
  const auto count = static_cast<Index>(subject.examples.size());
  Index first = 0;
  while (first < count) {
    Index end = first, rows = 0;
    do {
      const Example& example = subject.examples[static_cast<std::size_t>(end)];
      rows += std::max(example.source_rows(), example.target_rows());
    } while (++end < count && rows < subject.batch_tokens);
    std::vector<Index> chosen(static_cast<std::size_t>(end - first));
    std::iota(chosen.begin(), chosen.end(), first);
    use(input_of(gather(subject.examples, chosen), subject.model.spec().kind), first);
    first = end;
  }
}

const Sequences& rows_read(const ModelSpec& spec, bool decoder, const ModelInput& input) {
  return decoder && !spec.pooled() ? input.target.rows : input.source.rows;
}

std::vector<std::string> source_pieces(const ProbeSubject& subject, const Example& example) {
  if (subject.source != nullptr) return pieces(subject.source, example.source);
  std::vector<std::string> places;
  for (Index i = 1; i <= example.source_rows(); ++i) places.push_back(std::to_string(i));
  return places;
}

std::vector<std::string> target_pieces(const ProbeSubject& subject, const Example& example) {
  return pieces(subject.target, {example.target.data(), example.target.size() - 1});
}

TrainedModel load_for_probing(const std::filesystem::path& run, DType precision,
                              std::vector<std::string> assignments, bool initial) {
  for (const char* stack : {"model", "model.encoder", "model.decoder"})
    assignments.push_back(std::string(stack) + ".dropout=0");
  assignments.emplace_back("model.checkpoint_activations=false");
  assignments.push_back("precision=" + to_string(precision));
  TrainedModel trained = load_trained_model(run, assignments);
  if (!initial) return trained;
  const ExperimentSpec& spec = *trained.spec;
  trained.built = build_model(spec, trained.sizes(), precision, false, initial_values_before_start(spec));
  load_starting_weights(spec, *trained.built);
  trained.weights = "initial weights" + (spec.model.from.empty() ? "" : " from " + spec.model.from);
  return trained;
}

ProbeSubject subject_of(TrainedModel& trained) {
  return {.model = *trained.built->model,
          .parameters = trained.built->parameters,
          .source = trained.source.get(),
          .target = trained.target.get(),
          .decode = trained.spec->decode,
          .seed = static_cast<std::uint64_t>(trained.spec->seed)};
}

Corpus split_of(const Task& task, const std::string& split, Index count) {
  const Corpus* found = split == "train" ? &task.train : split == "valid" ? &task.valid : nullptr;
  std::string known = "train, valid";
  for (const NamedCorpus& test : task.tests) {
    if (test.name == split) found = &test.corpus;
    known += ", " + test.name;
  }
  if (found == nullptr) throw ConfigError("error: this task has no split '" + split + "'; it has: " + known);
  Corpus corpus = *found;
  const auto most = static_cast<std::size_t>(count);
  if (corpus.examples.size() > most) corpus.examples.resize(most);
  for (auto* lines : {&corpus.sources, &corpus.references})
    if (lines->size() > most) lines->resize(most);
  return corpus;
}

void choose_sentences(const TrainedModel& trained, const SentenceChoice& choice, ProbeSubject& subject) {
  if (!choice.text.empty()) {
    subject.scored = text_corpus(trained, read_lines(choice.text));
    subject.examples = subject.scored.examples;
    if (trained.spec->model.pooled() && !subject.scored.references.empty()) subject.metric = "accuracy";
    return;
  }
  Task task = trained.spec->data.load();
  subject.examples = split_of(task, choice.split, choice.count).examples;
  subject.metric = task.metrics.front() == "perplexity" ? "log_likelihood" : task.metrics.front();
  subject.scored = task.tests.empty() ? std::move(task.valid) : std::move(task.tests.front().corpus);
}

}  // namespace attnlab
