// attnlab prune RUN: what heads are worth, and models without some of them.
#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "command.h"
#include "config/error.h"
#include "option_ranges.h"
#include "probe_assignments.h"
#include "study/importance.h"
#include "study/probe_files.h"
#include "study/prune_model.h"
#include "study/pruning.h"
#include "train/durable_file.h"
#include "train/log.h"
#include "train/other_code.h"

namespace attnlab {
namespace {

struct Options {
  std::string run, out, write, type = "pooled", text;
  std::vector<std::string> heads, assignments;
  std::int64_t sentences = 64;
  double share = -1;
  bool physical = false, json = false;
};

ProbeSubject sentences_for(TrainedModel& trained, const Options& options) {
  ProbeSubject subject = subject_of(trained);
  choose_sentences(trained, {options.text, "valid", options.sentences}, subject);
  return subject;
}

// The least important heads of the type asked for.
std::vector<HeadId> least_important(TrainedModel& trained, const Options& options) {
  ProbeSubject subject = sentences_for(trained, options);
  const auto places = attention_places(subject.model);
  std::vector<HeadId> heads;
  std::vector<double> importance;
  const auto all = head_importance(subject);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.type != "pooled" && to_string(all[i].place.type) != options.type) continue;
    const auto values = normalised(all[i].token);
    for (Index h = 0; h < all[i].place.heads(); ++h) {
      heads.push_back({i, h});
      importance.push_back(values[static_cast<std::size_t>(h)]);
    }
  }
  if (heads.empty()) throw ConfigError("error: --type " + options.type + ": the model has no such heads");
  auto order = least_first(heads, importance);
  order.resize(static_cast<std::size_t>(std::lround(options.share * static_cast<double>(order.size()))));
  return order;
}

std::vector<HeadId> chosen_heads(const Options& options, const std::vector<std::string>& run_assignments) {
  TrainedModel trained = load_for_probing(options.run, DType::f32, run_assignments);
  if (!options.heads.empty()) return heads_by_name(attention_places(trained.model()), options.heads);
  return least_important(trained, options);
}

// Seconds that scoring the validation sentences takes, the better of two.
double seconds_of(const TrainedModel& trained, const Corpus& corpus) {
  double best = 1e9;
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const PruningScore score(trained.model(), *trained.target, corpus, "log_likelihood",
                             trained.spec->decode);
    score.segments();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int write(const Options& options) {
  if (options.share < 0 && options.heads.empty())
    throw ConfigError("error: --write needs --share or --heads: which heads are to go");
  const auto removed = chosen_heads(options, options.assignments);
  std::vector<std::string> assignments = options.assignments;
  assignments.emplace_back("precision=f32");
  TrainedModel trained = load_trained_model(options.run, assignments);
  const auto names = names_of(attention_places(trained.model()), removed);
  shut_gates(trained, removed);
  fmt::print("heads out: {} of {}\n", removed.size(), all_heads(attention_places(trained.model())).size());
  for (const std::string& name : names) fmt::print("  {}\n", name);
  if (options.physical) {
    TrainedModel small = without_shut_heads(trained);
    const Index before = trained.built->parameters.count(false), after = small.built->parameters.count(false);
    const Corpus corpus = sentences_for(trained, options).scored;
    const double masked = seconds_of(trained, corpus), removed_seconds = seconds_of(small, corpus);
    fmt::print("weights: {} with the heads, {} without ({:.1f} % fewer)\n", before, after,
               100.0 * static_cast<double>(before - after) / static_cast<double>(before));
    fmt::print("scoring {} sentences: {:.3f} s masked, {:.3f} s removed\n", corpus.examples.size(), masked,
               removed_seconds);
    trained = std::move(small);
  }
  trained.spec->precision = Precision::automatic;
  write_pruned_run(trained, names, options.write);
  if (const Record modules = module_record(); !modules.fields().empty())  // for what loads it again
    write_durably(std::filesystem::path(options.write) / "environment.json", to_json_text(modules));
  log_info("written to " + options.write);
  return 0;
}

int study(const Options& options) {
  const ProbeAssignments assignments = split_assignments(options.assignments, {"head_pruning"});
  const auto probe = assignments.make("head_pruning");
  TrainedModel trained = load_for_probing(options.run, DType::f32, assignments.run);
  if (const std::string reason = probe->refusal(trained.model().spec()); !reason.empty())
    throw ConfigError("error: " + reason);
  log_info("weights: " + trained.weights);
  ProbeSubject subject = sentences_for(trained, options);
  const ProbeResult result = run_probe(*probe, subject);
  const Record about{{"probe", std::string("head_pruning")},
                     {"run", trained.folder.string()},
                     {"weights", trained.weights},
                     {"precision", std::string("f32")},
                     {"sentences", static_cast<std::int64_t>(subject.examples.size())}};
  if (!options.out.empty()) write_probe(options.out, "head_pruning", result, about);
  fmt::print("{}", options.json ? to_json_text(result, about) : to_text(result));
  return 0;
}

const Command command{
    "prune", "what heads are worth; models without some of them", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("run", options->run, "run folder, or a checkpoint in it")->required();
      app.add_option("--out", options->out, "folder for head_pruning.json");
      app.add_flag("--json", options->json, "print JSON instead of tables");
      app.add_option("--text", options->text, "file of lines SOURCE<TAB>TARGET to measure and score on");
      app.add_option("--sentences", options->sentences,
                     "validation sentences that the importance is measured on")
          ->check(positive_whole())
          ->capture_default_str();
      auto* write_to = app.add_option("--write", options->write,
                                      "no scores: write a run folder of the model with heads out");
      app.add_option("--share", options->share, "with --write: this share of the heads, the least important")
          ->needs(write_to)
          ->check(share());
      app.add_option("--type", options->type, "of these heads: encoder, decoder, cross or pooled")
          ->check(CLI::IsMember({"encoder", "decoder", "cross", "pooled"}))
          ->capture_default_str();
      app.add_option(
             "--heads", options->heads,
             "with --write: names or patterns instead, such as encoder.layers.0.self_attention.heads.3")
          ->needs(write_to)
          ->allow_extra_args(false)
          ->take_all();
      app.add_flag("--physical", options->physical, "with --write: smaller matrices instead of shut gates")
          ->needs(write_to);
      app.add_option("--set", options->assignments,
                     "head_pruning.key=value, a.b=value on top of the run's config")
          ->allow_extra_args(false)
          ->take_all();
      return [options] { return options->write.empty() ? study(*options) : write(*options); };
    }};

}  // namespace
}  // namespace attnlab
