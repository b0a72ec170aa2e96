#include "train/predict.h"

#include <cmath>

#include "config/error.h"
#include "data/batches.h"
#include "data/labels.h"
#include "train/interrupt.h"
#include "train/log_probability.h"

namespace attnlab {
namespace {

Prediction prediction_of(const std::vector<TokenScore>& best, Index labels) {
  Prediction prediction{best.front().token, std::vector<double>(static_cast<std::size_t>(labels))};
  for (const TokenScore& one : best)
    prediction.probabilities[static_cast<std::size_t>(one.token)] = std::exp(one.log_probability);
  return prediction;
}

}  // namespace

std::string label_refusal(const TrainedModel& trained) {
  const ExperimentSpec& spec = *trained.spec;
  if (!spec.model.pooled()) return "its model does not label whole examples (model.head is none)";
  if (!spec.data.task) return "it has no task (data.task) that says what the model reads of a line";
  const std::string task = "its task '" + Registry<TaskSpec>::name_of(*spec.data.task) + "' ";
  if (!trained.source) return task + "reads vectors and no text";
  if (!spec.data.task->frame(*trained.source, {}))
    return task + "does not say what the model reads of a line (TaskSpec::frame)";
  const Index labels = trained.shape.answers.labels;
  if (labels != 1) return task + join_text("wants ", labels, " labels of each text, not one");
  return {};
}

FramedText read_line(const TrainedModel& trained, const std::string& line) {
  std::vector<Token> ids = trained.source->encode(line);
  if (ids.empty()) return {};
  FramedText text = trained.spec->data.task->frame(*trained.source, std::move(ids)).value();
  const std::optional<Index> room = longest_input(trained.spec->model).source;
  text.cut = cut_to_room(text.ids, room, trained.source->eos()) || text.cut;
  return text;
}

std::vector<Prediction> predict_lines(const TrainedModel& trained, const std::vector<std::string>& lines,
                                      Index first_line, std::vector<Index>* cut_lines) {
  if (const std::string reason = label_refusal(trained); !reason.empty())
    throw ConfigError("error: " + trained.folder.string() + ": " + reason);
  std::vector<Prediction> predictions(lines.size());
  std::vector<Example> examples;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Index number = first_line + static_cast<Index>(i) + 1;
    FramedText text;
    try {
      text = read_line(trained, lines[i]);
    } catch (const DataError& error) {
      throw DataError(join_text("line ", number, ": ", error.what()));
    }
    if (text.ids.empty()) continue;
    if (text.cut && cut_lines) cut_lines->push_back(number);
    examples.push_back({.source = std::move(text.ids), .target = label_target({0})});
    places.push_back(i);
  }
  const Index labels = trained.target->size();
  // A line has one label, so that as many lines make a batch as decode at once.
  const BatchOptions options{.tokens = trained.spec->decode.batch_sentences, .shuffled = false};
  for (const auto& chosen : plan_batches(examples, options, 0)) {
    throw_if_interrupted();
    Tape tape({.training = false});
    const ModelInput input = input_of(gather(examples, chosen), trained.spec->model.kind);
    const auto best = best_tokens(trained.model().logits(tape, input).value(), labels, -1);
    for (std::size_t b = 0; b < chosen.size(); ++b)
      predictions[places[static_cast<std::size_t>(chosen[b])]] = prediction_of(best[b], labels);
  }
  return predictions;
}

}  // namespace attnlab
