// attnlab predict RUN < lines > labels: one label out for each line in; with --probabilities, JSON.
#include "train/predict.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "config/error.h"
#include "data/unknown_pieces.h"
#include "input_lines.h"
#include "modules.h"
#include "train/log.h"

namespace attnlab {
namespace {

struct Options {
  std::string run;
  bool probabilities = false;
  std::vector<std::string> assignments;
};

void check_use(const Options& options, const TrainedModel& trained) {
  const std::string reason = label_refusal(trained);
  if (reason.empty()) return;
  const std::string other = trained.spec->model.pooled()
                                ? "for its accuracy: " + command_to_type({"eval", options.run})
                                : "for what it writes: " + command_to_type({"translate", options.run});
  throw ConfigError("error: " + options.run + ": " + reason + "; " + other);
}

// The label, or nothing for a line without words.
std::string text_of(const Prediction& prediction, const Tokenizer& labels) {
  return prediction.label ? labels.piece(*prediction.label) : "";
}

// {"label": "positive", "probabilities": {"negative": 0.25, "positive": 0.75}}; null and nothing for a line
// without words.
std::string json_of(const Prediction& prediction, const Tokenizer& labels) {
  nlohmann::ordered_json json{{"label", nullptr}, {"probabilities", nlohmann::ordered_json::object()}};
  if (prediction.label) json["label"] = labels.piece(*prediction.label);
  for (std::size_t i = 0; i < prediction.probabilities.size(); ++i)
    json["probabilities"][labels.piece(static_cast<Token>(i))] = prediction.probabilities[i];
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

int predict(const Options& options) {
  const TrainedModel trained = load_trained_model(options.run, options.assignments);
  check_use(options, trained);
  log_info("weights: " + trained.weights);
  const Index at_once = lines_at_once(trained.spec->decode.batch_sentences);
  Index done = 0;
  UnknownPieces unknown(*trained.source);
  while (true) {
    const auto lines = next_lines(at_once, done);
    if (lines.empty()) break;
    for (const std::string& line : lines) unknown.count(line);
    std::vector<Index> cut;
    for (const Prediction& prediction : predict_lines(trained, lines, done, &cut))
      fmt::print("{}\n", options.probabilities ? json_of(prediction, *trained.target)
                                               : text_of(prediction, *trained.target));
    flush_output();
    for (const Index line : cut)
      log_warning(join_text("stdin:", line,
                            ": longer than what the model reads of a text (data.task, "
                            "model.positions.max_length); cut"));
    done += static_cast<Index>(lines.size());
  }
  if (const std::string text = unknown.text(); !text.empty()) log_warning("stdin: " + text);
  return 0;
}

const Command command{"predict", "label each line of stdin with a trained classifier of texts",
                      [](CLI::App& app) {
                        auto options = std::make_shared<Options>();
                        app.add_option("run", options->run, "run folder, or a checkpoint in it")->required();
                        app.add_flag("--probabilities", options->probabilities,
                                     "a JSON object a line: the label, and the probability of every label");
                        app.add_option("--set", options->assignments,
                                       "a.b=value on top of the run's config, such as precision=f32")
                            ->allow_extra_args(false)
                            ->take_all();
                        return [options] { return predict(*options); };
                      }};

}  // namespace
}  // namespace attnlab
