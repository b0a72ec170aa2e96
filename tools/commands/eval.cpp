// attnlab eval RUN: all scores of a trained model on its task's test or validation sets.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "config/assignment.h"
#include "config/error.h"
#include "data/files.h"
#include "option_ranges.h"
#include "study/intervention.h"
#include "train/evaluation.h"
#include "train/log.h"
#include "train/scoring.h"
#include "train/trained_model.h"

namespace attnlab {
namespace {

struct Options {
  std::string run, outputs;
  std::optional<std::string> split;
  bool json = false;
  std::int64_t beam = 0;
  std::vector<std::string> ablate, assignments;
};

// What one split got: the task's scores, and the likelihood of its references.
struct Evaluation {
  SplitScores scores;
  std::size_t sentences = 0;
  Index tokens = 0;
  double nll = 0;  // nats a token
};

void check_vocabulary(const TrainedModel& trained, const Task& task) {
  const auto same = [](const Tokenizer* a, const Tokenizer* b) {
    return a == nullptr || b == nullptr ? a == b
                                        : a->name() == b->name() && a->serialized() == b->serialized();
  };
  if (!same(trained.source.get(), task.source.get()) || !same(trained.target.get(), task.target.get()))
    throw DataError(trained.folder.string() +
                    ": the data give another vocabulary than the run was trained with; are data.root and its "
                    "files those of the run?");
  if (content_hash(task) != trained.data)
    log_warning("the data are not those that the run was trained on; scores may not compare");
}

// Without a wish: the test sets, or what there is instead.
std::vector<NamedCorpus> chosen_splits(Task task, const Options& options) {
  const std::string wanted = options.split.value_or("test");
  if (wanted == "test" && !task.tests.empty()) return std::move(task.tests);
  const bool instead = !options.split && task.tests.empty() && !task.valid.examples.empty();
  if (instead) log_info("this task has no test split; its validation split is scored (--split valid)");
  if (wanted == "valid" || instead) return {{"valid", std::move(task.valid)}};
  std::string known = "valid";
  for (NamedCorpus& test : task.tests) {
    if (test.name == wanted) return {std::move(test)};
    known += ", " + test.name;
  }
  throw ConfigError("error: --split " + wanted + ": this task has no such split; it has: " + known);
}

Evaluation evaluate(const TrainedModel& trained, const Task& task, const NamedCorpus& split) {
  Evaluation result;
  const ExperimentSpec& spec = *trained.spec;
  result.scores = score_split(trained.model(), task, split.name, split.corpus, spec.decode,
                              static_cast<std::uint64_t>(spec.seed));
  result.sentences = split.corpus.examples.size();
  double sum = 0;
  for (const ReferenceScore& score : score_reference(trained.model(), split.corpus.examples)) {
    sum -= score.log_probability;
    result.tokens += score.tokens;
  }
  result.nll = result.tokens > 0 ? sum / static_cast<double>(result.tokens) : 0;
  return result;
}

void print_table(const std::string& weights, const std::vector<Evaluation>& all) {
  fmt::print("weights: {}\n{:<24} {:<14} {:>10}  {}\n", weights, "split", "score", "value", "details");
  for (const Evaluation& one : all) {
    const auto row = [&one](const std::string& name, const std::string& value, const std::string& details) {
      fmt::print("{:<24} {:<14} {:>10}  {}\n", one.scores.split, name, value, details);
    };
    for (const Score& score : one.scores.scores) {
      row(score.name, fmt::format("{:.{}f}", score.value, score.value < 1 ? 4 : 2), score.details);
      if (!score.signature.empty()) row("", "", score.signature);
    }
    row("nll", fmt::format("{:.4f}", one.nll),
        fmt::format("nats a token; {} sentences, {} tokens", one.sentences, one.tokens));
    const auto& scores = one.scores.scores;
    if (std::none_of(scores.begin(), scores.end(), [](const Score& s) { return s.name == "perplexity"; }))
      row("perplexity", fmt::format("{:.3f}", std::exp(one.nll)), "");
  }
}

void print_json(const TrainedModel& trained, const std::vector<std::string>& metrics,
                const std::vector<Evaluation>& all) {
  nlohmann::ordered_json result{{"run", trained.folder.string()}, {"weights", trained.weights}};
  for (const Evaluation& one : all) {
    nlohmann::ordered_json split{{"sentences", one.sentences},
                                 {"tokens", one.tokens},
                                 {"nll", one.nll},
                                 {"perplexity", std::exp(one.nll)}};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      split[metrics[i]] = one.scores.scores[i].value;
      if (!one.scores.scores[i].signature.empty())
        split[metrics[i] + "_signature"] = one.scores.scores[i].signature;
    }
    result["splits"][one.scores.split] = split;
  }
  fmt::print("{}\n", result.dump(2));
}

void write_outputs(const std::string& folder, const std::vector<Evaluation>& all) {
  for (const Evaluation& one : all) {
    std::string text;
    for (const auto& line : one.scores.outputs) text += line + "\n";
    write_file(std::filesystem::path(folder) / (one.scores.split + ".txt"), text);
  }
}

// In force until it is destroyed; means and donors are those of validation sentences.
std::unique_ptr<Interventions> interventions_of(const Options& options, const Task& task,
                                                ProbeSubject& reference) {
  if (options.ablate.empty()) return nullptr;
  reference.examples = split_of(task, "valid", 256).examples;
  std::vector<Intervention> rules;
  for (const std::string& rule : options.ablate) rules.push_back(parse_intervention(rule));
  return std::make_unique<Interventions>(reference, rules);
}

int eval(const Options& options) {
  std::vector<std::string> assignments = options.assignments;
  assignments.emplace_back("decode.n_best=1");
  if (options.beam > 0)
    assignments.push_back(assignment_of_option("--beam", fmt::format("decode.beam={}", options.beam)));
  TrainedModel trained = load_trained_model(options.run, assignments);
  if (options.beam > 0 && trained.spec->decode.sample)
    throw ConfigError("error: --beam: this run samples; for a search add --set decode.sample=false");
  const Task task = trained.spec->data.load();
  check_vocabulary(trained, task);
  ProbeSubject reference = subject_of(trained);
  const auto interventions = interventions_of(options, task, reference);
  std::vector<Evaluation> all;
  for (const NamedCorpus& split : chosen_splits(task, options)) all.push_back(evaluate(trained, task, split));
  if (!options.outputs.empty()) write_outputs(options.outputs, all);
  if (options.json)
    print_json(trained, task.metrics, all);
  else
    print_table(trained.weights, all);
  return 0;
}

const Command command{
    "eval", "score a trained model on its task", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "run folder, or a checkpoint in it")->required();
      app.add_option("--split", options->split,
                     "test (all of them; where there are none, valid), valid, or the name of a test set")
          ->default_str("test");
      app.add_option("--beam", options->beam, "hypotheses kept; decode.beam")->check(positive_whole());
      app.add_flag("--json", options->json, "as JSON");
      app.add_option("--ablate", options->ablate,
                     "PATTERN=zero|mean|resample|uniform, of heads and sublayers, as in attnlab probe")
          ->allow_extra_args(false)
          ->take_all();
      app.add_option("--outputs", options->outputs, "folder for what was decoded, SPLIT.txt");
      app.add_option("--set", options->assignments, "a.b=value on top of the run's config")
          ->allow_extra_args(false)
          ->take_all();
      return [options] { return eval(*options); };
    }};

}  // namespace
}  // namespace attnlab
