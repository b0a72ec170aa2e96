// attnlab translate RUN < source > target: one line out for each line in; with --n-best, lists.
#include "train/translate.h"

#include <fmt/core.h>

#include "command.h"
#include "config/assignment.h"
#include "config/error.h"
#include "data/unknown_pieces.h"
#include "input_lines.h"
#include "modules.h"
#include "option_ranges.h"
#include "train/log.h"
#include "train/predict.h"

namespace attnlab {
namespace {

struct Options {
  std::string run;
  std::int64_t beam = 0, n_best = 0, top_k = -1, seed = -1;
  double temperature = -1, top_p = -1;
  bool sample = false;
  std::vector<std::string> assignments;
};

// The flags are short for keys; --n-best is set later, when the beam is known.
std::vector<std::string> assignments_of(const Options& options) {
  std::vector<std::string> all{assignment_of_option("--n-best", "decode.n_best=1")};
  const auto add = [&all](const char* option, const std::string& assignment) {
    all.push_back(assignment_of_option(option, assignment));
  };
  if (options.sample) add("--sample", "decode.sample=true");
  if (options.beam > 0) add("--beam", fmt::format("decode.beam={}", options.beam));
  if (options.seed >= 0) add("--seed", fmt::format("seed={}", options.seed));
  if (options.top_k >= 0) add("--top-k", fmt::format("decode.top_k={}", options.top_k));
  if (options.top_p >= 0) add("--top-p", fmt::format("decode.top_p={}", options.top_p));
  if (options.temperature >= 0)
    add("--temperature", fmt::format("decode.temperature={}", options.temperature));
  all.insert(all.end(), options.assignments.begin(), options.assignments.end());
  return all;
}

// A classifier has nothing to write, and flags that would change nothing are mistakes.
void check_use(const Options& options, const TrainedModel& trained) {
  const ExperimentSpec& spec = *trained.spec;
  if (spec.model.pooled())
    throw ConfigError("error: " + options.run +
                      ": its model labels whole examples (model.head) and writes no lines; " +
                      (label_refusal(trained).empty()
                           ? "for labels of lines: " + command_to_type({"predict", options.run}) + "; "
                           : "") +
                      "for its accuracy: " + command_to_type({"eval", options.run}));
  if (spec.decode.sample && options.beam > 0)
    throw ConfigError("error: --beam: this run samples; for a search add --set decode.sample=false");
  if (spec.decode.sample) return;
  for (const auto& [flag, given] :
       {std::pair{"--temperature", options.temperature >= 0}, std::pair{"--top-k", options.top_k >= 0},
        std::pair{"--top-p", options.top_p >= 0}, std::pair{"--seed", options.seed >= 0}})
    if (given) throw ConfigError(std::string("error: ") + flag + ": only samples depend on it; add --sample");
}

void set_n_best(DecodeSpec& decode, std::int64_t n_best) {
  if (!decode.sample && n_best > decode.beam)
    throw ConfigError(
        fmt::format("error: --n-best {}: the search keeps {} hypotheses; add --beam {} or --sample", n_best,
                    decode.beam, n_best));
  decode.n_best = n_best;
}

void print(const std::vector<std::vector<TextHypothesis>>& lists, Index first_line, bool n_best) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!n_best) {
      fmt::print("{}\n", lists[i].front().text);
      continue;
    }
    for (const TextHypothesis& hypothesis : lists[i])
      fmt::print("{} ||| {} ||| {:.6f}\n", first_line + static_cast<Index>(i), hypothesis.text,
                 hypothesis.score);
  }
  flush_output();
}

// Names every source that lost its end; of prompts, whose ends are read, only the first.
void warn_of_cuts(const TrainedModel& trained, const std::vector<Index>& cut, bool& warned) {
  const Index room = trained.spec->model.positions.max_length;
  for (const Index line : cut) {
    if (!trained.source && warned) return;
    log_warning(join_text("stdin:", line, ": longer than the ", room,
                          " tokens that the model has room for (model.positions.max_length); ",
                          trained.source ? "cut" : "of such lines it reads the end"));
    warned = true;
  }
}

int translate(const Options& options) {
  const TrainedModel trained = load_trained_model(options.run, assignments_of(options));
  check_use(options, trained);
  if (options.n_best > 0) set_n_best(trained.spec->decode, options.n_best);
  log_info("weights: " + trained.weights);
  const Index at_once = lines_at_once(trained.spec->decode.batch_sentences);
  Index done = 0;
  bool warned = false;
  UnknownPieces unknown(trained.source ? *trained.source : *trained.target);
  while (true) {
    const auto lines = next_lines(at_once, done);
    if (lines.empty()) break;
    for (const std::string& line : lines) unknown.count(line);
    std::vector<Index> cut;
    print(translate_lines(trained, lines, done, &cut), done, options.n_best > 0);
    warn_of_cuts(trained, cut, warned);
    done += static_cast<Index>(lines.size());
  }
  if (const std::string text = unknown.text(); !text.empty()) log_warning("stdin: " + text);
  return 0;
}

const Command command{
    "translate", "write what a trained model makes of each line of stdin", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "run folder, or a checkpoint in it")->required();
      app.add_option("--beam", options->beam, "hypotheses kept; decode.beam")->check(positive_whole());
      app.add_option("--n-best", options->n_best,
                     "so many hypotheses a line, as `index ||| text ||| score`, index from 0")
          ->check(positive_whole());
      app.add_flag("--sample", options->sample, "draw words instead of searching; decode.sample");
      app.add_option("--temperature", options->temperature, "of sampling; decode.temperature")
          ->check(positive_real());
      app.add_option("--top-k", options->top_k, "of sampling; decode.top_k")->check(not_negative_whole());
      app.add_option("--top-p", options->top_p, "of sampling; decode.top_p")->check(share());
      app.add_option("--seed", options->seed, "of sampling")->check(not_negative_whole());
      app.add_option("--set", options->assignments,
                     "a.b=value on top of the run's config, such as decode.beam=5")
          ->allow_extra_args(false)
          ->take_all();
      return [options] { return translate(*options); };
    }};

}  // namespace
}  // namespace attnlab
