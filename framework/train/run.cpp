#include "train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "data/files.h"
#include "data/tokenizer_spec.h"
#include "kernels/cpu.h"
#include "train/environment.h"
#include "train/evaluation.h"
#include "train/features.h"
#include "train/log.h"
#include "train/profile_report.h"
#include "train/published_departures.h"
#include "train/starting_weights.h"
#include "train/task_shape.h"
#include "train/trained_model.h"
#include "train/training_loop.h"

namespace attnlab {
namespace {

constexpr Index kUnprofiledSteps = 2;  // they make primitives and fill the pool

class Run {
 public:
  Run(const ExperimentSpec& spec, const RunOptions& options)
      : spec_(spec), options_(options), folder_(options.folder, options.mode) {}

  RunOutcome run() {
    const bool resuming = options_.mode == FolderMode::resume && folder_.has_checkpoint();
    if (options_.mode == FolderMode::resume && folder_.finished()) {
      log_info(fmt::format("{}: this run is finished", folder_.path().string()));
      return {};
    }
    const PrecisionChoice precision = choose_precision(spec_.precision);
    log_info("precision " + precision.reason);
    task_ = spec_.data.load();
    for (const auto& note : task_.notes) log_info(note);
    check_fit(spec_, task_);
    check_early_stopping(spec_, task_);
    built_ = build_model(spec_, vocabulary_of(task_), precision.type, true,
                         resuming ? InitialValues::zero : initial_values_before_start(spec_));
    if (!resuming) {  // a checkpoint holds all weights
      warn_of_departures(spec_, vocabulary_of(task_));
      load_starting_weights(spec_, *built_);
    }
    Trainer trainer(spec_, task_, *built_, content_hash(task_));
    describe(trainer);
    SoundCheckpoint from;
    if (resuming) {
      from = last_sound_checkpoint(folder_.checkpoints());
      trainer.resume(*from.checkpoint);
    }
    start_ = std::chrono::steady_clock::now();
    if (spec_.train.cache_features) {  // of the body's weights, which are all there by now
      Features features =
          features_of(spec_, task_, *built_, std::filesystem::path(spec_.data.root) / "cache");
      feature_seconds_ = features.seconds;
      trainer.use_features(std::move(features));
    }
    begin();
    for (std::size_t i = 0; i < from.damaged.size(); ++i) {
      log_warning(from.problems[i] + "; set aside, going on from " + from.checkpoint->folder().string());
      set_aside(from.damaged[i]);
    }
    return train(trainer);
  }

 private:
  void describe(const Trainer& trainer) {
    log_info(trainable_table(built_->parameters));
    log_info("learning rate against steps\n" + trainer.rates().table());
    const auto plan = plan_batches(task_.train.examples, {.tokens = spec_.train.batch_tokens}, 0);
    log_info(fmt::format("{} batches an epoch; padded ones would carry {:.1f} % padding", plan.size(),
                         100 * padding_avoided(task_.train.examples, plan).share()));
  }

  void begin() {
    RunPapers papers = options_.papers;
    Record environment = environment_record();
    environment.append(papers.environment);
    // What a checkpoint says, too; a run may diverge before its first one.
    environment.set("precision", std::string(to_string(built_->parameters.type())));
    environment.set("data_hash", content_hash(task_));
    papers.environment = environment;
    folder_.begin(papers);
    if (folder_.took_over_lock()) log_warning("took over the lock of a run that is gone");
    const auto vocabulary = folder_.path() / "vocabulary";
    save_tokenizer(vocabulary, "target", *task_.target);
    if (task_.source) save_tokenizer(vocabulary, "source", *task_.source);
    if (task_.labels > 0) save_task_shape(vocabulary, task_);
  }

  RunOutcome train(Trainer& trainer) {
    const InterruptGuard guard;
    LoopOptions loop;
    loop.deadline = options_.deadline;
    if (decodes_validation(spec_, task_)) {
      loop.scores = [this] {
        DecodeSpec greedy = spec_.decode;
        greedy.beam = greedy.n_best = 1;
        return metrics_of(score_split(*built_->model, task_, "valid", task_.valid, greedy, seed()),
                          task_.metrics, "valid_");
      };
    }
    Profile profile(kUnprofiledSteps);
    if (options_.profile.on) loop.profile = &profile;
    Record result;
    try {
      const std::uint32_t frozen = frozen_digest(built_->parameters);
      const LoopResult end = run_training(spec_, trainer, folder_, loop);
      if (options_.profile.on) write_profile(profile);
      result.set("status", to_string(end.reason));
      result.append(end.last_validation);
      if (built_->parameters.count(true) < built_->parameters.count(false))
        result.set("frozen_unchanged", frozen_digest(built_->parameters) == frozen);
      result.set("trained_parameters", built_->parameters.count(true));
      append_progress(trainer, result);  // second: its step is the run's, not the validation's
      if (!end.last_validation.fields().empty())
        validated_ = static_cast<Index>(end.last_validation.number("step"));
      const int signal = end.signal != 0 ? end.signal : score_unless_interrupted(trainer, end, loop, result);
      if (is_paused(end) && validated_ && *validated_ != trainer.state().step)
        result.set("validation_step", *validated_);
      folder_.write_result(result);
      return {signal == 0 ? 0 : 128 + signal, result};
    } catch (const DivergedError& error) {
      result.set("status", std::string("diverged"));
      result.set("error", std::string(error.what()));
      append_progress(trainer, result);
      folder_.write_result(result);
      throw;
    }
  }

  void write_profile(const Profile& profile) const {
    const StandingMemory standing = standing_memory(built_->parameters);
    const auto rooflines = options_.profile.rooflines ? product_rooflines(profile) : std::vector<double>();
    const std::string table = profile_table(profile, standing, rooflines);
    log_info(table);
    write_file(folder_.path() / "profile.txt", table);
    write_file(folder_.path() / "profile.json", profile_json(profile, standing, rooflines));
    write_file(folder_.path() / "trace.json", profile_trace(profile));
  }

  std::uint64_t seed() const { return static_cast<std::uint64_t>(spec_.seed); }

  // The run goes on later: its scores are those of this moment.
  static bool is_paused(const LoopResult& end) {
    return end.reason == EndReason::out_of_time || end.reason == EndReason::interrupted;
  }

  // `wall_seconds` are those of features, steps, validations and checkpoints in this process; scores of test
  // splits, and what was trained before the run went on, are not in them.
  void append_progress(const Trainer& trainer, Record& result) const {
    const TrainingState& state = trainer.state();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    result.set("step", state.step);
    result.set("epoch", trainer.epoch());
    result.set("wall_seconds", wall);
    result.set("training_seconds", state.training_seconds);
    if (spec_.train.cache_features) result.set("feature_seconds", feature_seconds_);
    result.set(
        "target_tokens_per_second",
        state.training_seconds > 0 ? static_cast<double>(state.tokens_seen) / state.training_seconds : 0.0);
    result.set("peak_memory_bytes", peak_memory_bytes());
  }

  // Returns the signal that broke the scoring off, or 0. Resuming scores again: the weights are saved.
  int score_unless_interrupted(const Trainer& trainer, const LoopResult& end, const LoopOptions& loop,
                               Record& result) {
    Record scores;
    std::optional<Index> validated = validated_;
    try {
      const ScoredWeights scored = load_scored_weights(spec_, folder_.checkpoints(), built_->parameters);
      scores.set("scored_weights", scored.name);
      if (validated && scored.step != validated) {
        scores.append(validation_of_scored(trainer, loop));
        validated = scored.step;
      }
      score_tests(scores);
      if (!is_paused(end)) judge(scores);
    } catch (const Interrupted& interrupted) {
      result.set("status", to_string(EndReason::interrupted));
      return interrupted.signal;
    }
    result.append(scores);
    validated_ = validated;
    return 0;
  }

  // So that the numbers of validation and test in a result are of the same weights. The best ones need not be
  // those of the last validation: their checkpoint may be gone.
  static Record validation_of_scored(const Trainer& trainer, const LoopOptions& loop) {
    auto result = trainer.validate();
    if (!result) throw Interrupted(interrupt_signal());
    if (loop.scores) result->append(loop.scores());
    return *result;
  }

  void score_tests(Record& result) {
    for (const NamedCorpus& test : task_.tests) {
      const SplitScores scores =
          score_split(*built_->model, task_, test.name, test.corpus, spec_.decode, seed());
      result.append(metrics_of(scores, task_.metrics, test.name + "_"));
      for (const Score& score : scores.scores)
        if (!score.signature.empty())
          result.set(test.name + "_" + score.name + "_signature", score.signature);
      if (!scores.outputs.empty()) {
        std::string text;
        for (const auto& line : scores.outputs) text += line + "\n";
        write_file(folder_.path() / "outputs" / (test.name + ".txt"), text);
      }
    }
    for (const TrivialBaseline& baseline : task_.baselines) result.set(column_of(baseline), baseline.score);
    if (task_.best_score) result.set("best_score_possible", *task_.best_score);
  }

  // Holds the score against the one to expect.
  void judge(Record& result) const {
    if (!spec_.expect.score || task_.tests.empty()) return;
    const double got = result.number(task_.tests.front().name + "_" + task_.metrics.front());
    const double within = spec_.expect.within.value_or(0);
    result.set("expected_score", *spec_.expect.score);
    result.set("expected_within", within);
    result.set("expected_got", got);
    result.set("expected_reached", got >= *spec_.expect.score - within);
  }

  const ExperimentSpec& spec_;
  const RunOptions& options_;
  RunFolder folder_;
  Task task_;
  std::unique_ptr<BuiltModel> built_;
  std::chrono::steady_clock::time_point start_;
  double feature_seconds_ = 0;
  std::optional<Index> validated_;  // the step of the weights that the result's valid_* are of, if it is one
};

}  // namespace

std::string column_of(const TrivialBaseline& baseline) {
  std::string name = "baseline_" + baseline.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

RunOutcome run_experiment(const ExperimentSpec& spec, const RunOptions& options) {
  return Run(spec, options).run();
}

}  // namespace attnlab
