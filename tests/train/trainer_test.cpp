#include "train/trainer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>

#include "core/parallel.h"
#include "support/catch.h"
#include "support/scratch.h"
#include "train/durable_file.h"
#include "train/small_run.h"
#include "train/training_loop.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

// A run of seconds: sequences of different lengths, dropout, three micro-batches a step, eight steps an
// epoch.
constexpr const char* kConfig = R"(
seed: 7
precision: f32
data: {task: {kind: copy, symbols: 9, min_length: 2, max_length: 7, train: 90, valid: 20, test: 5}}
model: {width: 16, layers: 1, heads: 2, feed_forward: 24, dropout: 0.2}
train:
  learning_rate: 0.005
  schedule: {kind: cosine, warmup_steps: 3}
  max_steps: 20
  batch_tokens: 70
  accumulate: 3
  label_smoothing: 0.1
  log_every: 3
  validate_every: 4
  checkpoint_every: 4
)";

struct Run : SmallRun {
  explicit Run(const std::vector<std::string>& assignments = {}) : SmallRun(kConfig, assignments) {}
  std::vector<double> weights() const { return built->parameters.values().to_doubles(); }
};

std::vector<double> unbroken_weights(const std::vector<std::string>& assignments = {}) {
  Run run(assignments);
  while (!run.trainer->finished()) run.trainer->step();
  return run.weights();
}

RunFolder open_folder(const fs::path& path) {
  RunFolder folder(path, FolderMode::resume);
  folder.begin({"", {}, {}, {}});
  return folder;
}

// Runs in the folder to the end, or on from its last checkpoint.
LoopResult go_on(Run& run, const fs::path& path, const LoopOptions& options = {}) {
  const RunFolder folder = open_folder(path);
  if (const auto last = last_checkpoint(folder.checkpoints())) run.trainer->resume(Checkpoint(*last));
  return run_training(run.spec, *run.trainer, folder, options);
}

// metrics.jsonl without what depends on the clock.
std::string metrics_without_time(const fs::path& path) {
  std::string text = read_small_file(path / "metrics.jsonl"), kept;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Record record = parse_record(text.substr(begin, end - begin), "metrics");
    for (const char* name : {"tokens_per_second", "training_seconds"})
      if (record.find(name) != nullptr) record.set(name, 0.0);
    kept += to_json_line(record) + "\n";
  }
  return kept;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a run learns, validates and counts") {
  const ScratchFolder scratch;
  Run run({"train.max_steps=60", "model.dropout=0", "train.accumulate=1", "train.validate_every=20"});
  const double before = run.trainer->validate()->number("valid_nll");
  const LoopResult result = go_on(run, scratch.path());
  CHECK(result.reason == EndReason::steps_done);
  CHECK(result.last_validation.number("valid_nll") < 0.8 * before);
  const TrainingState& state = run.trainer->state();
  CHECK(state.step == 60);
  CHECK(state.updates == 60);
  CHECK(run.trainer->epoch() ==
        Approx(static_cast<double>(state.epoch) + static_cast<double>(state.batch) / 8).epsilon(0.2));
  CHECK(state.tokens_seen > 0);
  CHECK(state.best.score.has_value());
}

TEST_CASE("a run resumed at any step ends with the same bits") {
  for (const char* precision : {"f32", "bf16"}) {
    const std::vector<std::string> config{std::string("precision=") + precision, "train.max_steps=12"};
    const auto expected = unbroken_weights(config);
    const ScratchFolder scratch;
    for (Index broken_at = 0; broken_at < 12; ++broken_at) {
      Run first(config), second(config);
      CheckpointStore store(scratch.path(), {});
      for (Index step = 0; step < broken_at; ++step) first.trainer->step();
      const auto path = first.trainer->save(store);
      second.trainer->resume(Checkpoint(path));
      while (!second.trainer->finished()) second.trainer->step();
      INFO("broken at step " << broken_at << " in " << precision);
      REQUIRE(second.weights() == expected);
    }
  }
}

TEST_CASE("a run that is interrupted over and over logs and ends as an unbroken one") {
  const ScratchFolder whole, broken;
  Run unbroken;
  go_on(unbroken, whole.path());
  int interruptions = 0;
  for (LoopResult result{EndReason::interrupted, 0, {}}; result.reason == EndReason::interrupted;
       ++interruptions) {
    REQUIRE(interruptions < 30);
    Run run;
    const InterruptGuard guard;
    LoopOptions options;
    std::raise(SIGTERM);  // arrives before the first step …
    if (interruptions % 2 == 1) {
      clear_interrupt();
      options.scores = [] {
        std::raise(SIGTERM);  // … or in the middle of a validation
        return Record();
      };
    } else if (interruptions > 0) {
      clear_interrupt();
      options.deadline = Deadline(std::chrono::seconds(0));  // or the time is up at once
    }
    result = go_on(run, broken.path(), options);
    if (result.reason == EndReason::out_of_time) result.reason = EndReason::interrupted;
    if (result.reason == EndReason::interrupted && interruptions % 2 == 1) CHECK(result.signal == SIGTERM);
  }
  CHECK(interruptions > 3);
  CHECK(metrics_without_time(broken.path()) == metrics_without_time(whole.path()));
  const auto last = *last_checkpoint(broken.path() / "checkpoints");
  CHECK(read_small_file(last / "model.safetensors") ==
        read_small_file(whole.path() / "checkpoints" / "step-20" / "model.safetensors"));
  CHECK(fs::read_symlink(broken.path() / "checkpoints" / "best") ==
        fs::read_symlink(whole.path() / "checkpoints" / "best"));
}

// Started as a process of its own by the test below.
TEST_CASE("child: train a run", "[.child]") {
  const char* folder = std::getenv("ATTNLAB_TEST_RUN");
  REQUIRE(folder != nullptr);
  Run run({"train.max_steps=60", "train.checkpoint_every=1"});
  go_on(run, folder);
}

TEST_CASE("a run killed again and again ends with the same bits") {
  const ScratchFolder scratch;
  const auto expected = unbroken_weights({"train.max_steps=60", "train.checkpoint_every=1"});
  ::setenv("ATTNLAB_TEST_RUN", scratch.path().c_str(), 1);
  int status = -1, kills = 0;
  for (int round = 0; status != 0; ++round) {
    REQUIRE(round < 60);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/proc/self/exe", "test_train", "child: train a run", "-o", "/dev/null",
              static_cast<char*>(nullptr));
      ::_exit(99);
    }
    const auto before = last_checkpoint(scratch.path() / "checkpoints");
    for (int wait = 0; wait < 20000 && last_checkpoint(scratch.path() / "checkpoints") == before; ++wait) {
      if (::waitpid(child, &status, WNOHANG) == child) break;
      ::usleep(1000);
    }
    if (kills < 6) {
      ::usleep(static_cast<useconds_t>(2000 + 7000 * round));
      kills += ::kill(child, SIGKILL) == 0 ? 1 : 0;
    }
    ::waitpid(child, &status, 0);
  }
  ::unsetenv("ATTNLAB_TEST_RUN");
  CHECK(kills == 6);
  Run run({"train.max_steps=60", "train.checkpoint_every=1"});
  run.trainer->resume(Checkpoint(*last_checkpoint(scratch.path() / "checkpoints")));
  CHECK(run.trainer->finished());
  CHECK(run.weights() == expected);
}

TEST_CASE("a run has the same bits at any thread count") {
  const int usual = thread_count();
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    const auto weights = unbroken_weights({"train.max_steps=6"});
    if (first.empty()) first = weights;
    CHECK(weights == first);
  }
  set_thread_count(usual);
}

TEST_CASE("accumulation does not change the gradient") {
  std::vector<double> whole;
  for (const Index pieces : {1, 4, 32}) {
    Run run({"train.batch_tokens=100000", "train.accumulate=" + std::to_string(pieces), "data.task.train=32",
             "precision=f64"});
    run.trainer->step();
    const auto gradient = run.built->parameters.gradients().to_doubles();
    if (whole.empty()) whole = gradient;
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      worst = std::max(worst, std::abs(gradient[i] - whole[i]));
      largest = std::max(largest, std::abs(whole[i]));
    }
    INFO(pieces << " pieces, largest gradient " << largest);
    CHECK(worst <= 1e-12 * largest);
  }
}

TEST_CASE("a checkpoint of another run is refused and changes nothing") {
  const ScratchFolder scratch;
  Run from;
  from.trainer->step();
  CheckpointStore store(scratch.path(), {});
  const auto path = from.trainer->save(store);
  const auto refuses = [&path](const std::string& assignment, const std::string& why) {
    Run to({assignment});
    const auto before = to.weights();
    const std::string error = error_of([&] { to.trainer->resume(Checkpoint(path)); });
    INFO(assignment << " gave: " << error);
    CHECK(error.find(why) != std::string::npos);
    CHECK(to.weights() == before);
    CHECK(to.trainer->state().step == 0);
  };
  refuses("seed=8", "cannot resume: the checkpoint has seed 7, this run 8");
  refuses("precision=f64", "precision");
  refuses("data.task.train=91", "data");
  refuses("train.batch_tokens=71", "batch_tokens");
  refuses("model.width=18", "another shape");
}

TEST_CASE("early stopping ends a run") {
  const ScratchFolder scratch;
  Run run({"train.max_steps=1000", "train.learning_rate=1e-12", "train.early_stopping.patience=2",
           "train.early_stopping.minimum_gain=0.1", "train.validate_every=2"});
  const LoopResult result = go_on(run, scratch.path());
  CHECK(result.reason == EndReason::early_stopped);
  CHECK(run.trainer->state().step == 6);
  CHECK(fs::read_symlink(scratch.path() / "checkpoints" / "best") == "step-2");
  Run again({"train.max_steps=1000", "train.learning_rate=1e-12", "train.early_stopping.patience=2",
             "train.early_stopping.minimum_gain=0.1", "train.validate_every=2"});
  CHECK(go_on(again, scratch.path()).reason == EndReason::early_stopped);
  CHECK(again.trainer->state().step == 6);
}

TEST_CASE("epochs end a run, validate and checkpoint it") {
  const ScratchFolder scratch;
  Run run({"train.max_steps=null", "train.max_epochs=2", "train.validate_every=0", "train.checkpoint_every=0",
           "train.keep_last=5"});
  go_on(run, scratch.path());
  CHECK(run.trainer->state().epoch == 1);
  CHECK(run.trainer->epoch() == 2);
  CHECK(run.trainer->state().step == run.trainer->total_steps());
  CHECK(checkpoints_in(scratch.path() / "checkpoints").size() == 2);
}

TEST_CASE("one batch can be learnt by heart") {
  Run run({"train.overfit_one_batch=true", "model.dropout=0", "train.label_smoothing=0",
           "train.max_steps=150", "train.batch_tokens=20", "train.learning_rate=0.01"});
  double last = 0;
  while (!run.trainer->finished()) last = run.trainer->step().sums.mean_nll();
  CHECK(last < 0.05);
}

TEST_CASE("a diverging run stops with the op named, or skips") {
  const ScratchFolder scratch;
  const auto poison = [](Run& run, double value) {
    for (const auto& parameter : run.built->parameters.all())
      if (parameter->name().find("encoder") != std::string::npos && parameter->shape().rank() == 2)
        return parameter->value().fill(value);
    FAIL("no encoder matrix");
  };
  Run stopped;
  {
    const RunFolder folder = open_folder(scratch.path());
    run_training(stopped.spec, *stopped.trainer, folder);
  }
  Run more({"train.max_steps=30"});
  more.trainer->resume(Checkpoint(*last_checkpoint(scratch.path() / "checkpoints")));
  poison(more, std::nan(""));
  try {
    const RunFolder folder = open_folder(scratch.path());
    run_training(more.spec, *more.trainer, folder);
    FAIL("it should have diverged");
  } catch (const DivergedError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find("diverged at step 21") == 0);
    CHECK(std::string(error.what()).find("encoder") != std::string::npos);
    CHECK(error.exit_code() == 4);
  }
  CHECK(last_checkpoint(scratch.path() / "checkpoints")->filename() == "step-20");

  Run skipping({"train.divergence.policy=skip", "train.divergence.skips=3"});
  skipping.trainer->step();
  const auto before = skipping.weights();
  poison(skipping, std::numeric_limits<double>::infinity());
  const auto poisoned = skipping.weights();
  for (int i = 0; i < 3; ++i) CHECK(!skipping.trainer->step().updated);
  CHECK(skipping.weights() == poisoned);
  CHECK(skipping.trainer->state().skipped.total == 3);
  CHECK(skipping.trainer->state().updates == 1);
  CHECK_THROWS_AS(skipping.trainer->step(), DivergedError);
}

TEST_CASE("a search for NaN stops no run that skips, and one that stops at once") {
  const auto poison = [](const Run& run) {
    run.built->parameters.find("target_embedding.weight")->value().fill(std::nan(""));
    run.built->parameters.refresh_compute();
  };
  Run skipping({"train.divergence.policy=skip", "train.divergence.skips=2", "train.find_nan=true"});
  skipping.trainer->step();
  poison(skipping);
  for (int i = 0; i < 2; ++i) CHECK_FALSE(skipping.trainer->step().updated);
  CHECK(skipping.trainer->state().skipped.total == 2);
  CHECK(std::isnan(skipping.trainer->validate()->number("valid_nll")));
  const std::string last = error_of([&] { skipping.trainer->step(); });
  CHECK(last.find("3 updates in a row") != std::string::npos);
  CHECK(last.find("of op '") != std::string::npos);
  Run stopping({"train.find_nan=true"});
  poison(stopping);
  CHECK(error_of([&] { stopping.trainer->step(); }).find("of op '") != std::string::npos);
}

TEST_CASE("frozen parameters do not move in a run") {
  Run run({"train.trainable=layernorm_only", "train.max_steps=5"});
  std::vector<std::vector<double>> before;
  for (const auto& parameter : run.built->parameters.all()) before.push_back(parameter->value().to_doubles());
  while (!run.trainer->finished()) run.trainer->step();
  int moved = 0, stayed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& parameter = *run.built->parameters.all()[i];
    const bool changed = parameter.value().to_doubles() != before[i];
    CHECK(changed == (parameter.name().find("norm") != std::string::npos));
    (changed ? moved : stayed) += 1;
  }
  CHECK(moved > 0);
  CHECK(stayed > 0);
}
