// attnlab run --dry-run: everything that could fail hours into a run, once, before it.
#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>

#include "core/pool.h"
#include "train/environment.h"
#include "train/published_departures.h"
#include "train/run.h"
#include "train/starting_weights.h"
#include "train/training_loop.h"

namespace attnlab {
namespace {

// A folder that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "attnlab-dry-run-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw IoError("cannot make a temporary folder " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Three digits at least: thousands of steps are counted from it, and a study's cost.
std::string seconds_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.3g}", seconds) : fmt::format("{:.0f}", seconds);
}

double megabytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string dry_run(const ExperimentSpec& spec) {
  const PrecisionChoice precision = choose_precision(spec.precision);
  const Task task = spec.data.load();
  check_fit(spec, task);
  check_early_stopping(spec, task);
  const auto built =
      build_model(spec, vocabulary_of(task), precision.type, true, initial_values_before_start(spec));
  warn_of_departures(spec, vocabulary_of(task));
  load_starting_weights(spec, *built);
  const std::string hash = content_hash(task);
  Trainer trainer(spec, task, *built, hash);
  StepReport report = trainer.step();  // the first one also makes primitives and fills the pool
  if (!trainer.finished()) report = trainer.step();
  trainer.validate();
  const TemporaryFolder folder;
  CheckpointStore store(folder.path(), trainer.retention());
  const auto saved = trainer.save(store);
  Trainer(spec, task, *built, hash).resume(Checkpoint(saved));
  const auto pool = Pool::global().counters();
  const double steps = static_cast<double>(trainer.total_steps());
  std::string text =
      trainable_table(built->parameters) + "learning rate against steps\n" + trainer.rates().table();
  text += fmt::format(
      "precision {}\n{} parameters, {} of them train\n{} training examples, {} steps, {} s a step\n"
      "memory {:.0f} MB at most so far ({:.0f} MB of tensors)\nabout {} s of training\n"
      "one checkpoint was written and read back\n",
      precision.reason, built->parameters.count(false), built->parameters.count(true),
      task.train.examples.size(), trainer.total_steps(), seconds_text(report.seconds),
      megabytes(static_cast<std::size_t>(peak_memory_bytes())), megabytes(pool.peak_bytes),
      seconds_text(steps * report.seconds));
  return text;
}

}  // namespace attnlab
