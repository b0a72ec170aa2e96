#include "train/training_loop.h"

#include <fmt/format.h>

#include "train/event_file.h"
#include "train/log.h"
#include "train/metrics_log.h"

namespace attnlab {
namespace {

class Loop {
 public:
  Loop(const ExperimentSpec& spec, Trainer& trainer, const RunFolder& folder, const LoopOptions& options)
      : train_(spec.train),
        trainer_(trainer),
        state_(trainer.state()),
        options_(options),
        store_(folder.checkpoints(), trainer.retention()),
        metrics_(folder.path(), state_.step),
        saved_step_(last_checkpoint(folder.checkpoints()) ? state_.step : -1) {
    result_.last_validation = metrics_.last_validation();
    if (spec.log.tensorboard) events_.emplace(folder.path() / "tensorboard", state_.step + 1);
  }

  LoopResult run() {
    if (state_.validation_due) validate_and_save();
    while (!over()) {
      const StepReport report = step();
      if (!report.updated)
        log_warning(
            fmt::format("step {}: loss or gradient is not finite; the update is skipped", state_.step));
      bar_.show(state_.step, trainer_.total_steps(), fmt::format("loss {:.3f}", report.sums.mean_smoothed()));
      if (state_.step % train_.log_every == 0 || trainer_.finished()) write_line(report);
      state_.validation_due = due(train_.validate_every);
      if (state_.validation_due) {
        validate_and_save();
      } else if (due(train_.checkpoint_every)) {
        save({});
      }
    }
    save_the_end();
    return result_;
  }

 private:
  void keep(const Record& line) {
    metrics_.write(line);
    if (events_) events_->write(line);
  }

  StepReport step() {
    const Profile::Step measured(options_.profile);
    return trainer_.step();
  }

  bool due(Index every) const {
    return trainer_.finished() || (every > 0 ? state_.step % every == 0 : trainer_.epoch_ended());
  }

  bool over() {
    result_.signal = interrupt_signal();
    const bool stopped = should_stop(train_.early_stopping, state_.best) && !state_.validation_due;
    if (result_.signal != 0) {
      result_.reason = EndReason::interrupted;
    } else if (trainer_.finished()) {
      result_.reason = EndReason::steps_done;
    } else if (stopped) {
      result_.reason = EndReason::early_stopped;
    } else if (options_.deadline.passed()) {
      result_.reason = EndReason::out_of_time;
    } else {
      return false;
    }
    return true;
  }

  void write_line(const StepReport& report) {
    const LossSums& sums = state_.interval;
    const double seconds = state_.interval_seconds;
    const auto rows = static_cast<double>(sums.tokens + sums.source_tokens);
    Record line{{"step", state_.step}, {"epoch", trainer_.epoch()}};
    line.append(sums.metrics());
    line.set("learning_rate", report.learning_rate);
    line.set("gradient_norm", report.gradient_norm);
    line.set("tokens_per_second", seconds > 0 ? rows / seconds : 0.0);
    line.set("tokens_seen", state_.tokens_seen);
    line.set("training_seconds", state_.training_seconds);
    line.set("skipped_updates", state_.skipped.total);
    keep(line);
    log_info(fmt::format(
        "step {}/{}  epoch {:.2f}  loss {:.4f}  perplexity {:.2f}  rate {:.3g}  {:.0f} tokens/s{}",
        state_.step, trainer_.total_steps(), trainer_.epoch(), line.number("loss"), line.number("perplexity"),
        report.learning_rate, line.number("tokens_per_second"),
        sums.source_tokens > 0 ? " (source and target)" : ""));
    state_.interval = {};
    state_.interval_seconds = 0;
  }

  // Nothing if a signal broke it off.
  std::optional<Record> validation() const {
    auto losses = trainer_.validate();
    if (!losses) return {};
    Record line{{"step", state_.step}, {"epoch", trainer_.epoch()}};
    line.append(*losses);
    try {
      if (options_.scores) line.append(options_.scores());
    } catch (const Interrupted&) {
      return {};
    }
    return line;
  }

  // A validation that a signal breaks off stays due, and is made first when the run goes on.
  void validate_and_save() {
    const auto made = validation();
    if (!made) return;
    const Record& line = *made;
    state_.validation_due = false;
    if (line.fields().size() <= 2) {  // no validation split
      if (due(train_.checkpoint_every)) save({});
      return;
    }
    keep(line);
    const double score = score_of(train_.early_stopping, line);
    const bool best = note_score(train_.early_stopping, score, state_.step, state_.best);
    std::string text = fmt::format("validation at step {}", state_.step);
    for (const auto& [name, value] : line.fields())
      if (name.rfind("valid_", 0) == 0) text += fmt::format("  {} {:.4g}", name.substr(6), line.number(name));
    log_info(text + (best ? "  (best so far)" : ""));
    result_.last_validation = line;
    if (best || due(train_.checkpoint_every)) save(score);
  }

  // An unbroken run would have no checkpoint where this one is broken off, and has one where training ends:
  // there the one that an interruption left, of just that step, becomes one of the schedule.
  void save_the_end() {
    const bool ended = result_.reason == EndReason::steps_done || result_.reason == EndReason::early_stopped;
    if (state_.step != saved_step_ || (ended && store_.off_schedule(state_.step)))
      save({}, ended ? SavedFor::schedule : SavedFor::interruption);
  }

  void save(std::optional<double> score, SavedFor reason = SavedFor::schedule) {
    trainer_.save(store_, score, reason);
    saved_step_ = state_.step;
  }

  const TrainSpec& train_;
  Trainer& trainer_;
  TrainingState& state_;
  const LoopOptions& options_;
  CheckpointStore store_;
  MetricsLog metrics_;
  std::optional<EventFile> events_;  // for TensorBoard
  ProgressBar bar_;
  Index saved_step_;  // -1 where nothing is saved: a run that ends before its first step keeps its beginning
  LoopResult result_;
};

}  // namespace

LoopResult run_training(const ExperimentSpec& spec, Trainer& trainer, const RunFolder& folder,
                        const LoopOptions& options) {
  return Loop(spec, trainer, folder, options).run();
}

std::string to_string(EndReason reason) {
  switch (reason) {
    case EndReason::steps_done:
      return "done";
    case EndReason::early_stopped:
      return "early_stopped";
    case EndReason::out_of_time:
      return "out_of_time";
    case EndReason::interrupted:
      break;
  }
  return "interrupted";
}

}  // namespace attnlab
