#include "train/trainer.h"

#include <chrono>

#include "core/profile.h"
#include "kernels/cpu.h"
#include "train/clip.h"
#include "train/interrupt.h"
#include "train/log.h"

namespace attnlab {
namespace {

BatchOptions batch_options(const ExperimentSpec& spec) {
  return {.tokens = spec.train.batch_tokens, .seed = static_cast<std::uint64_t>(spec.seed)};
}

void require_same(const char* what, const std::string& here, const std::string& there) {
  if (here != there)
    throw IoError(join_text("cannot resume: the checkpoint has ", what, " ", there, ", this run ", here));
}

// Where updates are skipped, NaN stops nothing: only windows that are skipped are then looked into.
bool stops_where_nan_is_found(const TrainSpec& train) {
  return train.find_nan && train.divergence.policy == DivergencePolicy::stop;
}

// The op and module where numbers of a window first go wrong; empty if they do not.
std::string first_not_finite(BuiltModel& built, const std::vector<Batch>& window,
                             const WindowOptions& options) {
  try {
    window_gradient(built, window, options);
  } catch (const DivergedError& where) {
    return where.what();
  }
  return "";
}

}  // namespace

Trainer::Trainer(const ExperimentSpec& spec, const Task& task, BuiltModel& built, std::string data_hash)
    : spec_(spec),
      task_(task),
      built_(built),
      optimizer_(spec.train.optimizer->make(built.parameters)),
      stream_(task.train.examples, batch_options(spec)) {
  const Index in_epoch = stream_.batches_in_epoch();
  total_steps_ = spec.train.max_steps.value_or(spec.train.max_epochs * in_epoch);
  const ScheduleContext context{spec.train.learning_rate, spec.model.width, total_steps_,
                                static_cast<double>(in_epoch)};
  rates_ = std::make_unique<RateGroups>(spec.train.groups, spec.train.schedule, context, built.parameters,
                                        *optimizer_);
  state_.seed = static_cast<std::uint64_t>(spec.seed);
  state_.precision = to_string(built.parameters.type());
  state_.isa = kernels::isa_name();
  state_.data = std::move(data_hash);
  state_.batch_tokens = spec.train.batch_tokens;
}

StepReport Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Batch> window = next_window();
  profile_stage("batch");
  ++state_.step;
  StepReport report;
  report.sums = window_gradient(built_, window, window_options(stops_where_nan_is_found(spec_.train)));
  profile_stage("end of the window");
  report.gradient_norm = global_norm(built_.parameters.gradients());
  profile_stage("gradient norm");
  const std::vector<double> rates = rates_->rates(state_.step);
  report.learning_rate = rates.front();
  report.updated = sound(window, report);
  if (report.updated) {
    optimizer_->step(rates, clip_scale(report.gradient_norm, spec_.train.clip));
    profile_stage("optimizer");
    state_.interval.add(report.sums);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state_.updates = optimizer_->updates();
  state_.epoch = stream_.position().epoch;
  state_.batch = stream_.position().batch;
  state_.tokens_seen += report.sums.tokens;
  state_.training_seconds += report.seconds;
  state_.interval_seconds += report.seconds;
  return report;
}

std::vector<Batch> Trainer::next_window() {
  if (spec_.train.overfit_one_batch) stream_.seek({0, 0});
  std::vector<Batch> window = gather_pieces(task_.train.examples, stream_.next(), spec_.train.accumulate);
  if (features_.train)
    for (Batch& batch : window) batch.features = features_.rows(features_.train, batch.examples);
  if (task_.augment)
    for (Batch& batch : window) change_examples(batch);
  return window;
}

// Each example draws by itself: the change is a function of seed, epoch and example.
void Trainer::change_examples(Batch& batch) const {
  const std::span<float> all(batch.vectors);
  for (Index b = 0; b < batch.sentences(); ++b) {
    const Index example = batch.examples[static_cast<std::size_t>(b)];
    const auto width = static_cast<std::size_t>(task_.vector_width);
    task_.augment(all.subspan(static_cast<std::size_t>(batch.source_rows.offset(b)) * width,
                              static_cast<std::size_t>(batch.source_rows.length(b)) * width),
                  Random(state_.seed, stream_name(join_text("data.augment.", example)),
                         static_cast<std::uint64_t>(stream_.position().epoch)));
  }
}

WindowOptions Trainer::window_options(bool find_nan) const {
  return {.smoothing = spec_.train.label_smoothing,
          .support = spec_.train.smoothing_support,
          .seed = state_.seed,
          .step = state_.step,
          .find_nan = find_nan};
}

// Before the run stops, the window runs once more with the finder of NaN on, which names op and module; so it
// does, where the finder is asked for, before an update is skipped.
bool Trainer::sound(const std::vector<Batch>& window, const StepReport& report) {
  try {
    const bool sound = update_is_sound(spec_.train.divergence, report.sums.smoothed, report.gradient_norm,
                                       state_.step, state_.skipped);
    if (sound || !spec_.train.find_nan) return sound;
    const std::string found = first_not_finite(built_, window, window_options(true));
    if (!found.empty()) log_warning(join_text("step ", state_.step, ": ", found));
    return false;
  } catch (const DivergedError& error) {
    const std::string found = first_not_finite(built_, window, window_options(true));
    throw DivergedError(error.what() + (found.empty() ? "" : "\n" + found));
  }
}

std::optional<Record> Trainer::validate() const {
  const auto& examples = task_.valid.examples;
  if (examples.empty()) return Record();
  BatchOptions options = batch_options(spec_);
  options.shuffled = false;
  LossSums sums;
  for (const auto& chosen : plan_batches(examples, options, 0)) {
    if (interrupt_signal() != 0) return {};
    Batch batch = gather(examples, chosen);
    if (features_.valid) batch.features = features_.rows(features_.valid, batch.examples);
    sums.add(batch_loss(built_, batch, window_options(stops_where_nan_is_found(spec_.train))));
  }
  return sums.metrics("valid_");
}

std::filesystem::path Trainer::save(CheckpointStore& store, std::optional<double> score,
                                    SavedFor reason) const {
  return store.save(built_.parameters, optimizer_.get(), state_, score, reason);
}

void Trainer::resume(const Checkpoint& checkpoint) {
  const TrainingState& there = checkpoint.state();
  require_same("seed", std::to_string(state_.seed), std::to_string(there.seed));
  require_same("precision", state_.precision, there.precision);
  require_same("data", state_.data, there.data);
  require_same("batch_tokens", std::to_string(state_.batch_tokens), std::to_string(there.batch_tokens));
  const BatchPosition before = stream_.position();
  stream_.seek({there.epoch, there.batch});
  try {
    checkpoint.load(built_.parameters, *optimizer_);
  } catch (...) {
    stream_.seek(before);
    throw;
  }
  state_ = there;
  state_.isa = kernels::isa_name();
  if (there.isa != state_.isa)
    log_warning(join_text("the checkpoint was made with the instruction set ", there.isa, ", this CPU uses ",
                          state_.isa, ": results will differ in the last bits"));
}

bool Trainer::finished() const {
  if (spec_.train.max_steps) return state_.step >= *spec_.train.max_steps;
  if (spec_.train.overfit_one_batch) return state_.step >= total_steps_;
  return state_.epoch >= spec_.train.max_epochs ||
         (state_.epoch + 1 >= spec_.train.max_epochs && epoch_ended());
}

bool Trainer::epoch_ended() const {
  if (spec_.train.overfit_one_batch) return state_.step > 0 && state_.step % stream_.batches_in_epoch() == 0;
  return state_.step > 0 && state_.batch == stream_.batches_in_epoch();
}

double Trainer::epoch() const {
  return static_cast<double>(state_.epoch) +
         static_cast<double>(state_.batch) / static_cast<double>(stream_.batches_in_epoch());
}

Retention Trainer::retention() const {
  const TrainSpec& train = spec_.train;
  return {std::max(train.keep_last, train.average_last), train.keep_best, train.early_stopping.higher()};
}

}  // namespace attnlab
